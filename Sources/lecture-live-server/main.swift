import Glibc
import LectureLiveServer

let words = Array(CommandLine.arguments.dropFirst())
exit(words == ["join"] ? JoinProgram.run() : await LiveServerProgram.run(words))
