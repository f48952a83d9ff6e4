# The CUDA back end's sources that compile for the device by nvcc and for the host under tests/cuda_shim.
set(PODIUM_CUDA_KERNEL_SOURCES
    attention.cu attention_backward_keys.cu attention_backward_queries.cu attention_forward.cu attention_kept.cu
    attention_simple.cu attention_warpgroup_backward.cu attention_warpgroup_forward.cu backend.cc cached_attention.cu class_cross_entropy.cu
    column_sums.cu convert.cu cross_entropy.cu cuda_device.cu distillation.cu dropout.cu embedding.cu fake_quantise.cu float8.cu gelu.cu layer_norm.cu
    linear.cc optimizer.cu partial_sums.cu position_cross_entropy.cu product_choices.cc
    products.cc pruned.cu rms_norm.cu rotary_heads.cu rows.cu squared_error.cu state.cu swiglu.cu tanh.cu
    inference/attention_split.cu inference/finish.cu inference/layer_norm.cu inference/linear.cc
    inference/linear_bf16.cu inference/linear_e4m3.cu inference/linear_f16.cu inference/linear_i8.cu
    inference/plan.cc inference/sparse.cu)
list(TRANSFORM PODIUM_CUDA_KERNEL_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/worker/ops/cuda/)

# Those that only the device's build has.
set(PODIUM_CUDA_DEVICE_SOURCES cublas_lt.cc library.cc matmul.cc)
list(TRANSFORM PODIUM_CUDA_DEVICE_SOURCES PREPEND ${CMAKE_SOURCE_DIR}/worker/ops/cuda/)
