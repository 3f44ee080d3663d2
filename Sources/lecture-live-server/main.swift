import Glibc
import LectureLiveServer

exit(await LiveServerProgram.run(Array(CommandLine.arguments.dropFirst())))
