#include "worker/ops/cuda/cublas_lt.h"

#include <dlfcn.h>

#include "worker/ops/cuda/state.h"
#include "worker/ops/device_library.h"

namespace podium::ops::cuda {
namespace {

// Where the loader finds it, then where the toolkit customarily lies.
constexpr const char* kPlaces[] = {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13",
                                   "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.12"};

void* open_library() {
  std::string reason;
  for (const char* const place : kPlaces) {
    if (void* const library = ::dlopen(place, RTLD_NOW | RTLD_LOCAL)) return library;
    if (reason.empty()) reason = ::dlerror();
  }
  throw DeviceUnavailable("cannot open NVIDIA's libcublasLt (" + reason +
                          "): install the CUDA 13 libraries or name their folder in LD_LIBRARY_PATH");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr)
    throw DeviceUnavailable(std::string("libcublasLt lacks ") + name + ": install that of CUDA 13");
}

CublasLt open_functions() {
  void* const library = open_library();  // stays open
  CublasLt lt{};
  find(library, "cublasLtGetVersion", lt.version);
  find(library, "cublasLtCreate", lt.create);
  find(library, "cublasLtDestroy", lt.destroy);
  find(library, "cublasLtMatmul", lt.matmul);
  find(library, "cublasLtMatmulAlgoGetHeuristic", lt.get_heuristic);
  find(library, "cublasLtMatmulDescCreate", lt.make_operation);
  find(library, "cublasLtMatmulDescSetAttribute", lt.set_operation);
  find(library, "cublasLtMatmulDescDestroy", lt.destroy_operation);
  find(library, "cublasLtMatrixLayoutCreate", lt.make_layout);
  find(library, "cublasLtMatrixLayoutDestroy", lt.destroy_layout);
  find(library, "cublasLtMatmulPreferenceCreate", lt.make_preference);
  find(library, "cublasLtMatmulPreferenceSetAttribute", lt.set_preference);
  find(library, "cublasLtMatmulPreferenceDestroy", lt.destroy_preference);
  find(library, "cublasLtGetStatusString", lt.status_string);
  return lt;
}

}  // namespace

const CublasLt& cublas_lt() {
  static const CublasLt functions = open_functions();
  return functions;
}

void check_cublas(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError("cuBLASLt: " + what + " failed: " + cublas_lt().status_string(status));
}

}  // namespace podium::ops::cuda
