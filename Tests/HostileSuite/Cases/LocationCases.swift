extension HostileCase {
    /// A Location that leads nowhere.
    private static func broken(
        _ name: String, _ location: String?, _ summary: String, due: Due = .refusal
    ) -> HostileCase {
        HostileCase("location-\(name)", .redirects, summary, due: due) { moved($0, location) }
            .promising(.requests(atMost: 14))
    }

    static let brokenLocations: [HostileCase] = [
        broken("none", nil, "302 without a Location."),
        broken("empty", "", "302 with an empty Location."),
        broken("port-0", "http://127.0.0.1:0/moved.mp4", "Port 0."),
        broken("port-65536", "http://127.0.0.1:65536/moved.mp4", "Port 65536, which is 0 for some."),
        broken("port-negative", "http://127.0.0.1:-80/moved.mp4", "Port -80."),
        broken("port-closed", "http://127.0.0.1:1/moved.mp4", "A port without a listener."),
        broken("no-host", "http://", "A URL without a host."),
        broken("bracket", "http://[::1/moved.mp4", "An IPv6 address whose bracket is not closed."),
        broken("long", "/" + String(repeating: "x", count: 9000), "A path of 9,000 bytes.", due: .rightOrRefusal),
        broken(
            "longer", "/" + String(repeating: "x", count: 90_000), "A path of 90,000 bytes.", due: .rightOrRefusal),
        broken("control", "/moved\u{1}.mp4", "A control character in the path.", due: .rightOrRefusal),
        broken("tab", "/mo\tved.mp4", "A tab in the path.", due: .rightOrRefusal),
        HostileCase(
            "location-nul", .redirects, "A NUL in the path, behind which stands another name.", due: .rightOrRefusal
        ) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            return .raw(Array("HTTP/1.1 302 Found\r\nLocation: /moved.mp4\0.html\r\nContent-Length: 0\r\n\r\n".utf8))
        },
        HostileCase(
            "location-cr", .redirects, "A bare CR in the path, with a forged field behind it.", due: .rightOrRefusal
        ) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            return .raw(
                Array("HTTP/1.1 302 Found\r\nLocation: /moved.mp4\rX-Forged: 1\r\nContent-Length: 0\r\n\r\n".utf8))
        },
        HostileCase(
            "location-not-utf-8", .redirects, "Bytes in the path that are not UTF-8.", due: .rightOrRefusal
        ) { visit in
            guard visit.asked.path == "/lecture.mp4" else { return .answer(visit.honest()) }
            return .raw(
                Array("HTTP/1.1 302 Found\r\nLocation: /m".utf8) + [0xF6, 0xFF]
                    + Array("v.mp4\r\nContent-Length: 0\r\n\r\n".utf8))
        },
        HostileCase(
            "location-two", .redirects, "Two Location fields: the second one leads to a page.", due: .rightOrRefusal
        ) { visit in
            switch visit.asked.path {
            case "/lecture.mp4": .answer(Answer(302, [("Location", "/moved.mp4"), ("Location", "/page")]))
            case "/page": .answer(Answer(200, text: Answer.page, type: "text/html"))
            default: .answer(visit.honest())
            }
        },
    ]

    /// A scheme to which a server must not be able to redirect a client.
    private static func foreign(_ scheme: String, _ location: String, _ summary: String) -> HostileCase {
        HostileCase("scheme-\(scheme)", .redirects, summary, due: .refusal) { moved($0, location) }
            .promising(.requests(atMost: 3))
    }

    static let foreignSchemes: [HostileCase] = [
        foreign("file", "file:///etc/passwd", "A redirect to a file of the client's machine."),
        foreign("file-relative", "file:lecture.mp4", "A redirect to a file beside the client."),
        foreign("ftp", "ftp://127.0.0.1:1/lecture.mp4", "A redirect to FTP."),
        foreign("gopher", "gopher://127.0.0.1:1/_GET", "A redirect to Gopher, which can speak any protocol."),
        foreign("dict", "dict://127.0.0.1:1/d:lecture", "A redirect to DICT."),
        foreign("data", "data:video/mp4;base64,AAAA", "A redirect to a data URL."),
        foreign("javascript", "javascript:alert(1)", "A redirect to a script."),
        foreign("blob", "blob:http://127.0.0.1/1", "A redirect to a blob."),
        foreign("ws", "ws://127.0.0.1:1/lecture.mp4", "A redirect to a WebSocket."),
        foreign("unix", "unix:/run/docker.sock", "A redirect to a local socket."),
    ]
}
