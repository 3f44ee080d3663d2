import LectureProgramSupport
import Testing

/// Libraries that are opened with their first use: what a command does not use takes no time and no memory.
@Suite(.timeLimit(.minutes(1))) struct LoadedLibraryTests {
    @Test func `a command opens only the libraries that it uses`() throws {
        let result = try BuiltProgram.shell(
            """
            \(RemedyWalkTests.prelude)
            loads() {
                rm -f loads.*
                LD_DEBUG=files LD_DEBUG_OUTPUT=loads "$lecturectl" "$@" >/dev/null 2>&1 || exit 2
                cat loads.*
            }
            film a.mp4
            loads precache --key a "$url/a.mp4" >files
            grep -q libcurl files || exit 3
            # It reads manifests.
            grep -q libxml2 files && exit 4
            loads list >files
            grep -q libsqlite3 files || exit 5
            grep -qE 'libcurl|libxml2|libarchive' files && exit 6
            exit 0
            """)
        #expect(result.status == 0, "\(result.outputText) \(result.diagnosticsText)")
    }
}
