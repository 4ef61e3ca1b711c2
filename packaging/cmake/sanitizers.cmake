# AMAXSCOPE_SANITIZE applies to everything that is built, third-party headers included.
if(AMAXSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${AMAXSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${AMAXSCOPE_SANITIZE})
endif()
