// A shared object that the worker must not take for its back end.
#if defined(PODIUM_TEST_OTHER_BUILD)
extern "C" const char* podium_device_library_build() { return PODIUM_TEST_OTHER_BUILD; }
#endif
