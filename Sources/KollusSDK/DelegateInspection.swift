import Foundation

/// Finds out whether a delegate implements anything at all.
enum DelegateInspection {
    static func inspect(_ delegate: any KollusStorageDelegate) {}

    /// What is told about methods that no spelling binds.
    static func sentence(_ methods: [String], _ type: Any.Type) -> String {
        "\(type) has no method for \(methods.joined(separator: ", ")) in any spelling that KollusStorageDelegate declares, "
            + "so it is not told of this event. Compare the parameters' optionals with the declarations."
    }
}
