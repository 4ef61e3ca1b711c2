# amaxscope_embed(TARGET NAMESPACE file…): compiles text files into TARGET. Each becomes
#   namespace NAMESPACE { extern const std::string_view kEmbedded_<file name with _ for other characters>; }
# declared in the generated header "embedded_<NAMESPACE>.h".
function(amaxscope_embed target namespace)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/embedded/embedded_${namespace}.h)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/embedded_${namespace}.cpp)
  set(declarations "")
  set(definitions "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" symbol ${name})
    file(READ ${path} text)
    string(APPEND declarations "extern const std::string_view kEmbedded_${symbol};\n")
    string(APPEND definitions "const std::string_view kEmbedded_${symbol} = R\"amx(${text})amx\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${header} CONTENT
    "#pragma once\n#include <string_view>\nnamespace ${namespace} {\n@declarations@}\n" @ONLY)
  file(CONFIGURE OUTPUT ${source} CONTENT
    "#include \"embedded_${namespace}.h\"\nnamespace ${namespace} {\n@definitions@}\n" @ONLY)
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/embedded)
endfunction()
