// The functions of NVIDIA's libcublasLt that are used here. The library is opened at run time, so that the
// back end itself can be opened, and can say what is missing, where it is not installed.
#pragma once

#include <cublasLt.h>

#include <stdexcept>
#include <string>

namespace podium::ops::cuda {

struct CublasLt {
  decltype(&::cublasLtGetVersion) version;
  decltype(&::cublasLtCreate) create;
  decltype(&::cublasLtDestroy) destroy;
  decltype(&::cublasLtMatmul) matmul;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) get_heuristic;
  decltype(&::cublasLtMatmulDescCreate) make_operation;
  decltype(&::cublasLtMatmulDescSetAttribute) set_operation;
  decltype(&::cublasLtMatmulDescDestroy) destroy_operation;
  decltype(&::cublasLtMatrixLayoutCreate) make_layout;
  decltype(&::cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&::cublasLtMatmulPreferenceCreate) make_preference;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) set_preference;
  decltype(&::cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&::cublasLtGetStatusString) status_string;
};

// Opened by the first call; DeviceUnavailable where it cannot be.
const CublasLt& cublas_lt();

void check_cublas(cublasStatus_t status, const std::string& what);

}  // namespace podium::ops::cuda
