import LectureSQLite

/// Settings of the store that every process on it shares. Table setting.
///
/// Confined to the owner of the store's writer, like its connection.
package struct SettingRows {
    let connection: Connection

    /// A setting of the queue.
    package func value(of name: String) throws -> String? {
        try connection.first("SELECT value FROM setting WHERE name = ?", name) { $0.text(0) }
    }

    /// Stores a setting of the queue; nil deletes it.
    package func set(_ name: String, _ value: String?) throws {
        guard let value else {
            try connection.execute("DELETE FROM setting WHERE name = ?", name)
            return
        }
        try connection.execute(
            "INSERT INTO setting(name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name, value)
    }
}
