import LectureProgramSupport
import Testing

/// Complete lectures whose file disappears, and sources whose URLs are signed anew each time.
@Suite(.timeLimit(.minutes(2))) struct ReturningFileTests {
    private func run(_ script: String) throws {
        let result = try BuiltProgram.shell("\(RemedyWalkTests.prelude)\n\(script)")
        #expect(result.status == 0, "\(result.outputText) \(result.diagnosticsText)")
    }

    @Test func `a missing file is downloaded again from the URL that is requested now`() throws {
        try run(
            """
            film 'a.mp4?signature=1'
            works precache --key a "$url/a.mp4?signature=1"
            rm "$("$lecturectl" path a)" 'site/a.mp4?signature=1'
            film b.mp4
            works precache --key b "$url/b.mp4"
            film 'a.mp4?signature=2'
            # The lecture counts as failed from here on.
            test "$("$lecturectl" list --state failed | wc -l)" = 1 || exit 2
            works precache --key a "$url/a.mp4?signature=2"
            works path a
            """)
    }

    @Test(arguments: ["--check head", "--sha256"])
    func `files of a disk that was not mounted are not downloaded again`(option: String) throws {
        try run(
            """
            film a.mp4
            film b.mp4
            works precache --key a "$url/a.mp4"
            works precache --key b "$url/b.mp4"
            option='\(option)'
            test "$option" = --sha256 && option="--sha256 $(sha256sum <site/a.mp4 | cut -c1-64)"
            file=$("$lecturectl" path a)
            mv "$file" kept
            test "$("$lecturectl" list --state failed | wc -l)" = 1 || exit 2
            mv kept "$file"
            "$lecturectl" --json precache --key a $option "$url/a.mp4" >out 2>errors || { cat errors; exit 3; }
            grep -q '"bytes_fetched":0' out || { cat out; exit 4; }
            """)
    }
}
