# Targets `format` (rewrites) and `format-check` (fails on a difference), with the clang-format of Debian 12 (14).
find_program(AMAXSCOPE_CLANG_FORMAT NAMES clang-format-14 clang-format)
file(GLOB_RECURSE amaxscope_own_sources
  ${CMAKE_SOURCE_DIR}/engine/*.h ${CMAKE_SOURCE_DIR}/engine/*.cpp ${CMAKE_SOURCE_DIR}/engine/*.inl
  ${CMAKE_SOURCE_DIR}/profiling/*.h ${CMAKE_SOURCE_DIR}/profiling/*.cpp
  ${CMAKE_SOURCE_DIR}/gui/*.h ${CMAKE_SOURCE_DIR}/gui/*.cpp
  ${CMAKE_SOURCE_DIR}/tests/*.h ${CMAKE_SOURCE_DIR}/tests/*.cpp)
if(AMAXSCOPE_CLANG_FORMAT)
  add_custom_target(format COMMAND ${AMAXSCOPE_CLANG_FORMAT} -i ${amaxscope_own_sources} VERBATIM)
  add_custom_target(format-check
    COMMAND ${AMAXSCOPE_CLANG_FORMAT} --dry-run --Werror ${amaxscope_own_sources} VERBATIM)
endif()
