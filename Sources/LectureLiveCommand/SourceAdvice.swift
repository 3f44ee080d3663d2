import Glibc
import LectureLive
import LectureLiveMedia

extension LiveSource {
    /// What to do about a source that cannot be opened.
    ///
    /// - Parameter failure: why there is no broadcast.
    /// - Returns: a sentence; nil where something else is wrong than the source.
    func advice(for failure: LiveFailure) -> String? {
        switch failure.message {
        case BroadcastError.microphoneUnavailable.description:
            return "'arecord -L' lists the devices for '--microphone'."
        case BroadcastError.sourceUnavailable.description: break
        default: return nil
        }
        switch self {
        case .test: return nil
        case .screen: return "Screens are those of X servers, by their names: 'screen::0', or 'screen' for DISPLAY."
        case .camera(let device):
            return Self.access(to: device)
                ?? "'\(device)' is no camera, is in use, or has no pictures that fit: see 'v4l2-ctl --list-formats'."
        case .file(let path, _): return Self.access(to: path) ?? "'\(path)' has no picture that can be decoded."
        }
    }

    /// Why a file or a device cannot be opened at all; nil where it can.
    private static func access(to path: String) -> String? {
        guard unsafe Glibc.access(path, R_OK) != 0 else { return nil }
        return errno == EACCES ? "This user may not read '\(path)'." : "There is no '\(path)'."
    }
}
