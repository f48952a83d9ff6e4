#include "common/spec/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <sstream>

#include "common/spec/yaml_document.h"
#include "common/spec/yaml_text.h"

namespace podium {
namespace {

// Ends the parse; never leaves this file.
struct Refusal {
  Place place;
  std::string message;
};

// The place behind the closing quote of the text in quotes that begins at `at`; nothing where it has none.
std::optional<std::size_t> end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  while (++at < text.size()) {
    if (quote == '"' && text[at] == '\\')
      ++at;
    else if (text[at] == quote && quote == '\'' && text.substr(at + 1, 1) == "'")
      ++at;  // '' is a ' within
    else if (text[at] == quote)
      return at + 1;
  }
  return std::nullopt;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text), lines_(text) {}

  YamlNodePtr root() const { return root_; }
  Place place(const YAML::Mark& mark) const { return lines_.place(mark.line, mark.column); }
  // The last text in quotes that is followed by something that must not follow it.
  const std::optional<Place>& doubtful() const { return doubtful_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_)
      throw Refusal{place(mark), "a second document begins here; put each experiment into a file of its own"};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(mark, YamlNode::Kind::scalar), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      throw Refusal{place(mark), "this alias stands inside the value it names; write the value out"};
    place_value(found->second, place(mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (value.size() > kMaxYamlScalarBytes)
      throw Refusal{place(mark), "this text has " + std::to_string(value.size()) + " bytes and at most " +
                                     std::to_string(kMaxYamlScalarBytes) + " are read; shorten it"};
    auto node = make(mark, YamlNode::Kind::scalar);
    refuse_tag(tag, mark);
    node->quoted = tag == "!";
    if (node->quoted) check_quotes(mark);
    node->text = value;
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_tag(tag, mark);
    open(make(mark, YamlNode::Kind::list), anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_tag(tag, mark);
    open(make(mark, YamlNode::Kind::map), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor;
    YamlNodePtr key;  // read, and waiting for its value
  };

  std::shared_ptr<YamlNode> make(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (++values_ > kMaxYamlValues)
      throw Refusal{place(mark), "the file has more than " + std::to_string(kMaxYamlValues) +
                                     " values, and this is the first beyond; shorten its lists"};
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->place = place(mark);
    return node;
  }

  void refuse_tag(const std::string& tag, const YAML::Mark& mark) const {
    if (tag != "?" && tag != "!" && !tag.empty())
      throw Refusal{place(mark), "the tag " + tag + " is not understood; write the plain value"};
  }

  // Refuses text without a closing quote, which yaml-cpp accepts.
  void check_quotes(const YAML::Mark& mark) {
    doubtful_.reset();
    const auto at = static_cast<std::size_t>(mark.pos);
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;  // a block: | or >
    const auto end = end_of_quoted(text_, at);
    if (!end)
      throw Refusal{place(mark), std::string("the ") + text_[at] +
                                     " that opens here is not closed; add another where the text ends"};
    constexpr std::string_view kMayFollow = " \t\r\n,:]}";
    if (*end < text_.size() && kMayFollow.find(text_[*end]) == std::string_view::npos)
      doubtful_ = place(mark);
  }

  void open(std::shared_ptr<YamlNode> node, YAML::anchor_t anchor) {
    if (open_.size() >= static_cast<std::size_t>(kMaxYamlDepth))
      throw Refusal{node->place,
                    "values are nested more than " + std::to_string(kMaxYamlDepth) + " deep; flatten them"};
    open_.push_back({std::move(node), anchor, nullptr});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(std::shared_ptr<YamlNode> node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    const Place at = node->place;
    place_value(std::move(node), at);
  }

  void place_value(YamlNodePtr node, Place at) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node->kind == YamlNode::Kind::list) {
      open_.back().node->items.push_back({std::move(node), at});
    } else if (!open_.back().key) {
      if (node->kind != YamlNode::Kind::scalar) throw Refusal{at, "a key must be plain text"};
      open_.back().key = std::move(node);
    } else {
      open_.back().node->members.emplace_back(std::move(open_.back().key), YamlValue{std::move(node), at});
      open_.back().key = nullptr;
    }
  }

  std::string_view text_;
  LineIndex lines_;
  std::optional<Place> doubtful_;
  YamlNodePtr root_;
  std::size_t values_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNodePtr> anchors_;
};

// yaml-cpp's complaint, with a remedy where one is known.
std::string in_words(const std::string& complaint) {
  using namespace YAML::ErrorMsg;
  if (complaint == END_OF_SEQ_FLOW) return "a \"[\" before this is not closed; add \"]\"";
  if (complaint == END_OF_MAP_FLOW) return "a \"{\" before this is not closed; add \"}\"";
  if (complaint == MAP_VALUE)
    return "no \":\" belongs here; check the line's indentation, or put text with a \":\" in it in quotes";
  if (complaint == END_OF_MAP || complaint == END_OF_SEQ)
    return "this line does not belong to the lines above; check its indentation and the \":\" after its key";
  if (complaint == UNKNOWN_ANCHOR) return "no anchor of this name stands above; write the value out";
  return "this is not YAML: " + complaint;
}

}  // namespace

YamlNodePtr read_yaml_tree(std::string_view text, Problems& problems) {
  TreeBuilder builder(text);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    problems.add_at(refusal.place, "", refusal.message);
    return nullptr;
  } catch (const YAML::Exception& error) {
    if (builder.doubtful())
      problems.add_at(*builder.doubtful(), "",
                      "the text in quotes that begins here ends in the midst of a word; a quote is missing "
                      "or one too many");
    else
      problems.add_at(builder.place(error.mark), "", in_words(error.msg));
    return nullptr;
  }
  if (!builder.root()) problems.add_at({}, "", "the file is empty; start from configs/quickstart.yaml");
  return builder.root();
}

}  // namespace podium
