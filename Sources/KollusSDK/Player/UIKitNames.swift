public import Foundation
import LectureModel

// Names of Apple's frameworks that the player's interface mentions and that Linux does not have.

/// Where Objective-C methods put an error. Foundation has it on Apple's platforms; here it is always nil.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// How far two fingers are apart, for ``KollusPlayerView/zoom(_:)``. Only what that needs: Linux has no gesture
/// recognisers, so an application makes one from what its own toolkit reports.
///
/// `@unchecked Sendable`: its value is behind a lock; the compiler does not check a class that is open.
open class UIPinchGestureRecognizer: NSObject, @unchecked Sendable {
    private let factor: Guarded<CGFloat>

    /// Makes a gesture that changes nothing.
    public override init() {
        factor = Guarded(1)
        super.init()
    }

    /// Makes a gesture.
    ///
    /// - Parameter scale: see ``scale``.
    public convenience init(scale: CGFloat) {
        self.init()
        self.scale = scale
    }

    /// The distance of the fingers, divided by the one at the start.
    open var scale: CGFloat {
        get { factor.withLock(\.self) }
        set { factor.withLock { $0 = newValue } }
    }
}
