#include "agent/core/container.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace podium {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 15> kRuntimesNames{
    "PATH",   "HOME",       "USER",        "LOGNAME",  "SHELL",      "LANG",        "LANGUAGE", "TZ",
    "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"};
constexpr std::array<std::string_view, 12> kRuntimesPrefixes{
    "LD_",     "LC_",       "GLIBC_",      "XDG_",      "DBUS_",    "ENROOT_",
    "DOCKER_", "APPTAINER", "SINGULARITY", "CONTAINER", "STORAGE_", "REGISTRY_"};

bool is_path(std::string_view image) { return image.ends_with(".sif") || image.ends_with(".sqsh"); }

// "docker://NAME" or NAME: the name, as a registry's reference.
std::string reference_of(const std::string& image) {
  constexpr std::string_view kScheme = "docker://";
  return image.starts_with(kScheme) ? image.substr(kScheme.size()) : image;
}

// Whether the reference begins with a registry, as the rules of Docker's references have it.
bool names_registry(std::string_view reference) {
  const std::size_t slash = reference.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view first = reference.substr(0, slash);
  return first == "localhost" || first.find_first_of(".:") != std::string_view::npos;
}

bool can_run(std::string_view runtime, std::string_view image) {
  if (image.ends_with(".sif")) return runtime == "apptainer";
  if (image.ends_with(".sqsh")) return runtime == "enroot" || runtime == "apptainer";
  return true;
}

void add(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

std::string joined(const Words& words, char between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
}

// "/a:/b:ro"; the spec's check has seen that it is of this form, before its placeholders were filled in.
std::optional<Mount> mount_of(std::string text) {
  Mount mount;
  if (text.ends_with(":ro")) {
    mount.read_only = true;
    text.resize(text.size() - 3);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  mount.source = text.substr(0, colon);
  mount.target = text.substr(colon + 1);
  return mount;
}

// Runtimes divide the text of a mount at these.
bool can_be_mounted(const Mount& mount) {
  const auto is_plain = [](const std::string& path) {
    return path.starts_with('/') && path.find_first_of(":,\n") == std::string::npos;
  };
  return is_plain(mount.source) && is_plain(mount.target);
}

class Containment {
 public:
  Containment(const ContainedProgram& program, const ContainerHost& host) : program_(program), host_(host) {}

  Result<ContainerCommand> run() && {
    if (auto error = choose()) return *std::move(error);
    if (auto error = collect_mounts()) return *std::move(error);
    divide_variables();
    count_gpus_anew();
    if (runtime_ == "enroot") enroot();
    if (runtime_ == "apptainer") apptainer();
    if (runtime_ == "podman" || runtime_ == "docker") engine();
    Words& words = out_.arguments;
    words.insert(words.end(), program_.arguments.begin(), program_.arguments.end());
    return std::move(out_);
  }

 private:
  std::optional<Error> choose() {
    const std::string& image = program_.container.image;
    const std::string& wanted = program_.container.runtime;
    if (reference_of(image).empty() || reference_of(image).front() == '-')
      return Error{ErrorCode::invalid, "\"" + image + "\" is no image: it would be read as an option",
                   "/container/image"};
    Words usable;
    for (const char* runtime : kContainerRuntimes) {
      if ((!wanted.empty() && wanted != runtime) || !can_run(runtime, image)) continue;
      usable.emplace_back(runtime);
      const auto found = host_.runtimes.find(runtime);
      if (found == host_.runtimes.end()) continue;
      runtime_ = runtime;
      path_ = found->second;
      return std::nullopt;
    }
    if (usable.empty())
      return Error{ErrorCode::invalid,
                   wanted + " cannot run " + image + "; give an image of a registry, or another runtime",
                   "/container/runtime"};
    return Error{ErrorCode::not_found,
                 "this node has no " + joined(usable, '/') + " to run the container " + image +
                     " with: none is in the folders of " + host_.searched + "; install one there",
                 "/container"};
  }

  // The spec's own stand in front of those of the task that they cover.
  std::optional<Error> collect_mounts() {
    for (const std::string& text : program_.container.mounts) {
      const auto mount = mount_of(text);
      if (!mount || !can_be_mounted(*mount))
        return Error{ErrorCode::invalid,
                     "\"" + text + "\" is no mount: two absolute paths without \":\" and \",\"",
                     "/container/mounts"};
      mounts_.push_back(*mount);
    }
    for (const Mount& mount : program_.folders) {
      if (!can_be_mounted(mount))
        return Error{
            ErrorCode::invalid,
            mount.source + " cannot be mounted: container runtimes take no \":\" and \",\" in a path",
            "/container"};
      const auto has_target = [&](const Mount& other) { return other.target == mount.target; };
      if (std::ranges::none_of(mounts_, has_target)) mounts_.push_back(mount);
    }
    return std::nullopt;
  }

  // By name, which the runtime reads from its own environment; those that it would follow itself by value.
  void divide_variables() {
    std::map<std::string, std::string> all = program_.variables;
    for (const auto& [name, value] : program_.container.env) all[name] = value;
    for (const auto& [name, value] : all) {
      if (is_runtimes_own(name))
        by_value_[name] = value;
      else
        by_name_[name] = value;
    }
  }

  // Within a container that has these GPUs alone, indexes count from 0.
  void count_gpus_anew() {
    const auto is_index = [](const std::string& gpu) {
      return gpu.find_first_not_of("0123456789") == std::string::npos;
    };
    if (runtime_ == "apptainer" || program_.gpus.empty() || !std::ranges::all_of(program_.gpus, is_index))
      return;
    Words indexes;
    for (std::size_t i = 0; i < program_.gpus.size(); ++i) indexes.push_back(std::to_string(i));
    by_name_["CUDA_VISIBLE_DEVICES"] = joined(indexes, ',');
  }

  // Podman and Docker have one command line, but for how they see GPUs, users and images.
  void engine() {
    const bool podman = runtime_ == "podman";
    add(out_.arguments,
        {path_, "run", "--rm", "--name", program_.name, "--init", "--network", "host", "--ipc", "host",
         "--log-driver", "none", "--security-opt", "label=disable", "--entrypoint", ""});
    // In the task's own cgroup, and without one's help where the agent may make none.
    if (podman) add(out_.arguments, {"--cgroups", "disabled", "--user", "0:0"});
    if (!podman) add(out_.arguments, {"--user", host_.user});
    for (const std::string& limit : host_.limits) add(out_.arguments, {"--ulimit", limit});
    pass_variables("--env");
    for (const Mount& mount : mounts_)
      add(out_.arguments, {"--volume", mount.source + ":" + mount.target + (mount.read_only ? ":ro" : "")});
    for (const std::string& file : host_.device_files) add(out_.arguments, {"--device", file});
    if (podman)
      for (const std::string& gpu : program_.gpus) add(out_.arguments, {"--device", "nvidia.com/gpu=" + gpu});
    else if (!program_.gpus.empty())
      add(out_.arguments, {"--gpus", "\"device=" + joined(program_.gpus, ',') + "\""});
    add(out_.arguments, {"--workdir", program_.workdir, image_of_engine(podman)});
    out_.at_end = podman ? joined({path_, "rm", "--force", "--ignore", "--time", "0", program_.name}, '\n')
                         : joined({path_, "rm", "--force", program_.name}, '\n');
  }

  // Podman would look through the registries of its configuration for a name that says none.
  std::string image_of_engine(bool podman) const {
    const std::string& image = program_.container.image;
    const std::string reference = reference_of(image);
    return podman && reference != image && !names_registry(reference) ? "docker.io/" + reference : reference;
  }

  void apptainer() {
    add(out_.arguments, {path_, "exec", "--cleanenv", "--no-mount", "home,cwd", "--writable-tmpfs"});
    if (!program_.gpus.empty()) add(out_.arguments, {"--nv"});
    for (const Mount& mount : mounts_)
      add(out_.arguments, {"--bind", mount.source + ":" + mount.target + (mount.read_only ? ":ro" : "")});
    for (const auto* variables : {&by_name_, &by_value_})
      for (const auto& [name, value] : *variables) out_.variables["APPTAINERENV_" + name] = value;
    const std::string& image = program_.container.image;
    add(out_.arguments,
        {"--pwd", program_.workdir, is_path(image) ? image_path() : "docker://" + reference_of(image)});
  }

  // An image of a registry is imported once a node; the first process that needs it does so, and the others
  // wait.
  void enroot() {
    constexpr char kStart[] =
        "enroot=$1 rc=$2 image=$3 from=$4; shift 4\n"
        "printf '%s\\n' 'cd \"$PODIUM_WORKDIR\" && exec \"$@\"' > \"$rc\" || exit 1\n"
        "if [ \"$from\" ]; then\n"
        "  mkdir -p \"${image%/*}\" && exec 9> \"$image.lock\" && flock 9 || exit 1\n"
        "  if [ ! -e \"$image\" ]; then\n"
        "    rm -f \"$image.part.sqsh\"\n"
        "    \"$enroot\" import -o \"$image.part.sqsh\" \"$from\" && mv \"$image.part.sqsh\" \"$image\" || "
        "exit 1\n"
        "  fi\n"
        "  exec 9>&-\n"
        "fi\n"
        "exec \"$enroot\" start --rw --rc \"$rc\" \"$@\"";
    const bool imports = !is_path(program_.container.image);
    const std::string image = imports ? imported_image() : image_path();
    add(out_.arguments, {"/bin/sh", "-c", kStart, "podium", path_, program_.task_folder + "/enroot.rc", image,
                         imports ? enroot_address() : ""});
    if (!program_.gpus.empty()) {
      by_name_["NVIDIA_VISIBLE_DEVICES"] = joined(program_.gpus, ',');
      by_name_.try_emplace("NVIDIA_DRIVER_CAPABILITIES", "compute,utility");
    }
    by_name_["PODIUM_WORKDIR"] = program_.workdir;
    pass_variables("--env");
    for (const Mount& mount : mounts_)
      add(out_.arguments, {"--mount", mount.source + ":" + mount.target + ":none:x-create=auto,rbind" +
                                          (mount.read_only ? ",ro" : "")});
    add(out_.arguments, {image});
  }

  // "docker://nvcr.io#nvidia/pytorch:24.01-py3": enroot has the registry apart.
  std::string enroot_address() const {
    std::string reference = reference_of(program_.container.image);
    if (names_registry(reference)) reference[reference.find('/')] = '#';
    return "docker://" + reference;
  }

  std::string imported_image() const {
    std::string name = reference_of(program_.container.image);
    std::ranges::replace(name, '/', '+');
    return host_.images + "/" + name + ".sqsh";
  }

  std::string image_path() const {
    const std::string& image = program_.container.image;
    return image.starts_with('/') ? image : program_.data + "/" + image;
  }

  void pass_variables(const std::string& option) {
    for (const auto& [name, value] : by_name_) {
      add(out_.arguments, {option, name});
      out_.variables[name] = value;
    }
    for (const auto& [name, value] : by_value_) add(out_.arguments, {option, name + "=" + value});
  }

  const ContainedProgram& program_;
  const ContainerHost& host_;
  std::string runtime_, path_;
  std::vector<Mount> mounts_;
  std::map<std::string, std::string> by_name_, by_value_;
  ContainerCommand out_;
};

}  // namespace

bool is_runtimes_own(std::string_view name) {
  return std::ranges::find(kRuntimesNames, name) != kRuntimesNames.end() ||
         std::ranges::any_of(kRuntimesPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<ContainerCommand> contain(const ContainedProgram& program, const ContainerHost& host) {
  return Containment(program, host).run();
}

}  // namespace podium
