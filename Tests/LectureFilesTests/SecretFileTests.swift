import Glibc
import LectureFiles
import Testing

/// Which files count as secrets.
@Suite struct SecretFileTests {
    /// systemd gives root's file to the service's user by an access list, whose mask shows in the bits of the group.
    @Test(
        arguments: [
            (0o440, 0, 0, true), (0o400, 0, 0, false), (0o640, 0, 0, false), (0o444, 0, 0, false), (0o460, 0, 0, false),
            (0o440, 1000, 0, false), (0o440, 0, 1000, false),
        ] as [(mode_t, uid_t, gid_t, Bool)])
    func `Only root's files of mode 0440 are credentials`(mode: mode_t, owner: uid_t, group: gid_t, expected: Bool) {
        #expect(SecretFile.isCredential(mode: mode, owner: owner, group: group) == expected)
        #expect(SecretFile.isCredential(mode: mode | S_IFREG, owner: owner, group: group) == expected)
    }
}
