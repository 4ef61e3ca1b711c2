# One INTERFACE target with the warnings of our own code; every target of ours links it PRIVATE.
add_library(amaxscope_warnings INTERFACE)
target_compile_options(amaxscope_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<BOOL:${AMAXSCOPE_WERROR}>:-Werror>)
