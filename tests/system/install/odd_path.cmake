# Whatever folder a checkout lies in: its path is not read as text. The scripts that look at what would be built run once more in a
# path that has all that they look for, and what shells, patterns and lists give a meaning to. A symbolic link stands for a checkout
# there.
include(${here}/steps.cmake)
set(folder "${build}/consumers/odd_path")
set(odd "${folder}/coordkit/src -Wshadow/a b+ü%(x)&'y'/coordkit/mold/Unity")
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${odd}")
file(CREATE_LINK ${source} "${odd}/coordkit" SYMBOLIC)
foreach(script embedded_says_nothing only_what_is_linked boost needed parts documents postfix systemd)
  run(${CMAKE_COMMAND} -D "build=${odd}/out" -D "source=${odd}/coordkit" -D generator=${generator} -D compiler=${compiler}
      -D "here=${odd}/coordkit/tests/system/install" -P "${odd}/coordkit/tests/system/install/${script}.cmake")
endforeach()
