#include "coordinator/mlflow/filter.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "coordinator/mlflow/filter_words.h"

namespace podium::mlflow {
namespace {

Error refused(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }

enum class Entity { metric, param, tag, dataset, attribute };

struct EntityName {
  std::string_view name;
  Entity entity;
};
constexpr std::array kEntities{EntityName{"metric", Entity::metric},
                               EntityName{"metrics", Entity::metric},
                               EntityName{"param", Entity::param},
                               EntityName{"params", Entity::param},
                               EntityName{"parameter", Entity::param},
                               EntityName{"parameters", Entity::param},
                               EntityName{"tag", Entity::tag},
                               EntityName{"tags", Entity::tag},
                               EntityName{"attribute", Entity::attribute},
                               EntityName{"attributes", Entity::attribute},
                               EntityName{"attr", Entity::attribute},
                               EntityName{"run", Entity::attribute},
                               EntityName{"dataset", Entity::dataset},
                               EntityName{"datasets", Entity::dataset}};

struct AttributeName {
  Searched of;
  Entity entity;
  std::string_view name;
  RunField field;
};
constexpr std::array kAttributes{
    AttributeName{Searched::runs, Entity::attribute, "run_id", RunField::run_id},
    AttributeName{Searched::runs, Entity::attribute, "run_name", RunField::name},
    AttributeName{Searched::runs, Entity::attribute, "run name", RunField::name},
    AttributeName{Searched::runs, Entity::attribute, "Run name", RunField::name},
    AttributeName{Searched::runs, Entity::attribute, "Run Name", RunField::name},
    AttributeName{Searched::runs, Entity::attribute, "user_id", RunField::user},
    AttributeName{Searched::runs, Entity::attribute, "status", RunField::status},
    AttributeName{Searched::runs, Entity::attribute, "artifact_uri", RunField::artifact_uri},
    AttributeName{Searched::runs, Entity::attribute, "start_time", RunField::started},
    AttributeName{Searched::runs, Entity::attribute, "created", RunField::started},
    AttributeName{Searched::runs, Entity::attribute, "Created", RunField::started},
    AttributeName{Searched::runs, Entity::attribute, "end_time", RunField::ended},
    AttributeName{Searched::runs, Entity::dataset, "name", RunField::dataset_name},
    AttributeName{Searched::runs, Entity::dataset, "digest", RunField::dataset_digest},
    AttributeName{Searched::runs, Entity::dataset, "context", RunField::dataset_context},
    AttributeName{Searched::experiments, Entity::attribute, "name", RunField::name},
    AttributeName{Searched::experiments, Entity::attribute, "creation_time", RunField::group_created},
    AttributeName{Searched::experiments, Entity::attribute, "last_update_time", RunField::group_updated},
    AttributeName{Searched::experiments, Entity::attribute, "experiment_id", RunField::group_id}};

struct SignName {
  std::string_view sign;
  Compare compare;
};
constexpr std::array kSigns{SignName{"=", Compare::equal}, SignName{"!=", Compare::not_equal},
                            SignName{"<", Compare::less},  SignName{"<=", Compare::at_most},
                            SignName{">", Compare::more},  SignName{">=", Compare::at_least}};

bool is_number_field(RunField field) {
  return field == RunField::metric || field == RunField::started || field == RunField::ended ||
         field == RunField::group_created || field == RunField::group_updated || field == RunField::group_id;
}

bool has_lists(RunField field) {
  return field == RunField::run_id || field == RunField::dataset_name || field == RunField::dataset_digest ||
         field == RunField::dataset_context;
}

struct Named {
  RunField field = RunField::name;
  std::string key;
};

Result<Named> attribute(Searched searched, Entity entity, const std::string& name) {
  std::string known;
  for (const AttributeName& one : kAttributes) {
    if (one.of != searched || one.entity != entity) continue;
    if (one.name == name) return Named{one.field, ""};
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  return refused("Invalid attribute key '" + name.substr(0, 100) + "' specified. Valid keys are: " + known);
}

Result<Named> named(Searched searched, Entity entity, const std::string& key) {
  if (key.empty()) return refused("Invalid identifier: a key is missing after the '.'");
  switch (entity) {
    case Entity::metric:
    case Entity::param:
      if (searched == Searched::experiments)
        return refused("experiments have attributes and tags, and neither metrics nor params");
      return Named{entity == Entity::metric ? RunField::metric : RunField::param, key};
    case Entity::tag:
      return Named{RunField::tag, key};
    case Entity::dataset:
    case Entity::attribute:
      return attribute(searched, entity, key);
  }
  PODIUM_CHECK(false, "unknown Entity");
}

class Parser {
 public:
  Parser(Searched searched, std::vector<Word> words) : searched_(searched), words_(std::move(words)) {}

  bool at_end() const { return word().kind == WordKind::end; }

  Result<std::vector<Condition>> filter() {
    std::vector<Condition> conditions;
    while (!at_end()) {
      if (conditions.size() == kMostComparisons)
        return refused("the filter has more than " + std::to_string(kMostComparisons) + " comparisons");
      Result<Condition> one = comparison();
      if (!one) return one.errors();
      conditions.push_back(std::move(one).value());
      if (at_end()) break;
      if (!is_word(word(), "AND"))
        return refused("Invalid clause in filter string: expected AND before '" + word().text.substr(0, 100) +
                       "'; comparisons are joined by AND alone, without parentheses");
      ++next_;
      if (at_end()) return refused("Invalid filter string: a comparison is missing after AND");
    }
    return conditions;
  }

  Result<OrderBy> order() {
    const Result<Named> by = identifier();
    if (!by) return by.errors();
    const bool descending = is_word(word(), "DESC");
    if (descending || is_word(word(), "ASC")) ++next_;
    if (!at_end())
      return refused("Invalid order_by clause: '" + word().text.substr(0, 100) + "' is neither ASC nor DESC");
    return OrderBy{by->field, by->key, descending};
  }

 private:
  const Word& word() const { return words_[next_]; }
  Word take() { return at_end() ? Word{} : words_[next_++]; }

  // entity.key, entity.`a key`, `entity`.key, key, "a key"
  Result<Named> identifier() {
    const Word first = take();
    if (first.kind != WordKind::plain && first.kind != WordKind::other)
      return refused("Invalid identifier '" + first.text.substr(0, 100) +
                     "': expected metrics.KEY, params.KEY, tags.KEY or an attribute");
    std::string entity = first.text, key;
    if (first.kind == WordKind::other) {
      if (!is_joined() || !word().text.starts_with('.'))
        return named(searched_, Entity::attribute, first.text);
      key = take().text.substr(1);
    } else {
      const std::size_t dot = entity.find('.');
      if (dot == std::string::npos) return named(searched_, Entity::attribute, entity);
      key = entity.substr(dot + 1);
      entity.resize(dot);
    }
    const auto known = std::ranges::find(kEntities, entity, &EntityName::name);
    if (known == kEntities.end())
      return refused("Invalid entity type '" + entity.substr(0, 100) +
                     "'. Valid entity types are metric, parameter, tag, attribute and dataset");
    if (key.empty() && word().kind == WordKind::other && word().joined) key = take().text;
    return named(searched_, known->entity, key);
  }

  // Whether a plain word follows without a space.
  bool is_joined() const { return word().kind == WordKind::plain && word().joined; }

  Result<Compare> comparator() {
    const Word sign = take();
    if (sign.kind == WordKind::sign)
      for (const SignName& one : kSigns)
        if (one.sign == sign.text) return one.compare;
    if (is_word(sign, "LIKE")) return Compare::like;
    if (is_word(sign, "ILIKE")) return Compare::like_any_case;
    if (is_word(sign, "IN")) return Compare::among;
    if (is_word(sign, "NOT") && is_word(word(), "IN")) {
      ++next_;
      return Compare::not_among;
    }
    return refused("Invalid comparator '" + sign.text.substr(0, 100) +
                   "': expected one of =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN");
  }

  Result<Condition> comparison() {
    const Result<Named> what = identifier();
    if (!what) return what.errors();
    const Result<Compare> compare = comparator();
    if (!compare) return compare.errors();
    Condition condition{what->field, what->key, *compare, {}};
    const bool list = *compare == Compare::among || *compare == Compare::not_among;
    const bool text = *compare == Compare::like || *compare == Compare::like_any_case;
    const bool orders = !list && !text && *compare != Compare::equal && *compare != Compare::not_equal;
    if (is_number_field(condition.field)) {
      if (list || text) return refused("Invalid comparator: numbers are compared by =, !=, <, <=, > and >=");
      return with_number(std::move(condition));
    }
    if (orders) return refused("Invalid comparator: texts are compared by =, !=, LIKE and ILIKE");
    if (list && !has_lists(condition.field))
      return refused(
          "IN and NOT IN are for the attribute run_id, and for name, digest and context of a dataset");
    return list ? with_list(std::move(condition)) : with_text(std::move(condition));
  }

  Result<Condition> with_number(Condition condition) {
    const Word value = take();
    const char* const begin = value.text.data();
    const char* const end = begin + value.text.size();
    std::int64_t whole = 0;
    double number = 0;
    if (value.kind == WordKind::plain && !value.text.empty()) {
      const auto as_whole = std::from_chars(begin, end, whole);
      if (condition.field != RunField::metric && as_whole.ptr == end && as_whole.ec == std::errc()) {
        condition.value = whole;
        return condition;
      }
      const auto as_number = std::from_chars(begin, end, number);
      const bool digits = value.text.find_first_of("0123456789") != std::string::npos;
      if (digits && as_number.ptr == end && as_number.ec == std::errc()) {
        condition.value = number;
        return condition;
      }
    }
    return refused("Expected a number to compare with, not '" + value.text.substr(0, 100) + "'");
  }

  static bool is_quoted(const Word& value) {
    return value.kind == WordKind::single || value.kind == WordKind::other;
  }

  Result<Condition> with_text(Condition condition) {
    const Word value = take();
    if (!is_quoted(value))
      return refused("Expected a quoted string value (e.g. 'my-value'), not '" + value.text.substr(0, 100) +
                     "'");
    condition.value = value.text;
    return condition;
  }

  Result<Condition> with_list(Condition condition) {
    std::vector<std::string> values;
    Word sign = take();
    const Error wrong = refused("Expected a list of quoted string values, such as ('a', 'b')");
    if (sign.text != "(" || sign.kind != WordKind::sign) return wrong;
    do {
      const Word value = take();
      if (!is_quoted(value)) return wrong;
      values.push_back(value.text);
      sign = take();
      if (sign.kind != WordKind::sign) return wrong;
    } while (sign.text == ",");
    if (sign.text != ")") return wrong;
    condition.value = std::move(values);
    return condition;
  }

  Searched searched_;
  std::vector<Word> words_;
  std::size_t next_ = 0;
};

Result<Parser> parser_of(Searched searched, std::string_view text) {
  if (text.size() > kLongestFilter)
    return refused("the filter has more than " + std::to_string(kLongestFilter) + " bytes");
  Result<std::vector<Word>> words = split_words(text);
  if (!words) return words.errors();
  return Parser(searched, std::move(words).value());
}

}  // namespace

Result<std::vector<Condition>> parse_filter(Searched searched, std::string_view text) {
  Result<Parser> parser = parser_of(searched, text);
  if (!parser) return parser.errors();
  return std::move(parser).value().filter();
}

Result<std::vector<OrderBy>> parse_order(Searched searched, const std::vector<std::string>& texts) {
  if (texts.size() > kMostOrders)
    return refused("order_by has more than " + std::to_string(kMostOrders) + " entries");
  std::vector<OrderBy> order;
  for (const std::string& text : texts) {
    Result<Parser> parser = parser_of(searched, text);
    if (!parser) return parser.errors();
    const Result<OrderBy> one = std::move(parser).value().order();
    if (!one) return one.errors();
    if (one->field == RunField::dataset_name || one->field == RunField::dataset_digest ||
        one->field == RunField::dataset_context ||
        (searched == Searched::experiments && one->field == RunField::tag))
      return refused("Invalid order_by entity: '" + text.substr(0, 100) + "'");
    order.push_back(*one);
  }
  return order;
}

}  // namespace podium::mlflow
