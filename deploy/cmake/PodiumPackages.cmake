# The third-party packages, all from Debian 12 (deploy/packages lists them by name).
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(dnnl REQUIRED)
find_package(Gloo REQUIRED CONFIG)
find_package(Boost 1.81 REQUIRED COMPONENTS url)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBGIT2 REQUIRED IMPORTED_TARGET libgit2)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# Boost.Asio and Beast are compiled once, in common/net, instead of in every file that includes them.
add_library(podium_boost INTERFACE)
target_link_libraries(podium_boost INTERFACE Boost::headers Boost::url OpenSSL::SSL Threads::Threads)
target_compile_definitions(podium_boost INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
                                                  BOOST_ASIO_NO_DEPRECATED)
# GCC 12 takes the frames of Asio's coroutines, which have their own operator delete, for mismatched.
target_compile_options(podium_boost INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-mismatched-new-delete>)
