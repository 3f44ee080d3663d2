import Glibc
import LectureDaemon
import LectureFormats
import LectureKit
import LectureModel
import LectureRecords
import LectureServe

/// `lecturectl serve`.
enum ServeCommand {
    private enum Message: Sendable {
        /// Something has happened to the files beside the access file.
        case filesChanged
    }

    @Sendable static func run(_ command: ParsedCommand, _ context: CommandContext) async throws -> ExitStatus {
        let session = try CommandSession(command, context)
        let options = try ServePlace.options(session)
        // Before anything takes long, so that no signal ends the process.
        let signals = context.signals()
        signals?.takeHangups()
        let manager = try session.manager()
        do {
            let status = try await serve(manager, options, session, signals)
            await manager.close()
            return status
        } catch {
            await manager.close()
            throw error
        }
    }

    private static func serve(
        _ manager: LectureManager, _ options: ServeOptions, _ session: CommandSession, _ signals: SignalWatcher?
    ) async throws -> ExitStatus {
        let loop = EventLoop<Message>(manager.eventsWithoutExchanges) {
            Ticker(every: .seconds(Int64.max / 4), signals: signals).events
        }
        // Before it is read for the first time, so that no change is missed.
        let watch = watch(options.accessFile, session) { loop.send(.filesChanged) }
        let server = try await LectureServer.start(manager, options)
        defer { withExtendedLifetime(watch) {} }
        let notifier = ServiceNotifier(session.context.environment)
        do {
            try await manager.downloads.continueUnfinished()
            if session.wantsJSON {
                try session.context.output.write(machine: JSONLine.serving(server.url))
            } else {
                try session.context.writeData("The store is served at \(server.url)/.")
            }
            notifier.send(.ready)
            try await follow(loop, server, session, notifier)
        } catch {
            await server.stop()
            throw error
        }
        notifier.send(.stopping)
        await server.stop()
        return .done
    }

    /// Handles what happens until a signal stops the server.
    private static func follow(
        _ loop: EventLoop<Message>, _ server: LectureServer, _ session: CommandSession, _ notifier: ServiceNotifier
    ) async throws {
        // What was said last about a file that cannot be used: every change of its directory asks again.
        var fault: String?
        _ = try await loop.first { event -> Bool? in
            switch event {
            case .signal(.stop): return true
            case .signal(.resized), .tick: return nil
            case .library(.trouble(let error)): try session.report(error)
            case .library: return nil
            case .signal(.reload):
                notifier.send(.reloading(monotonicMicroseconds: ServiceNotifier.monotonicMicroseconds))
                fault = nil
                try reload(server, session, &fault)
                notifier.send(.ready)
            case .message(.filesChanged): try reload(server, session, &fault)
            }
            return nil
        }
    }

    /// Reads the access file again. One that cannot be used changes nothing.
    private static func reload(
        _ server: LectureServer, _ session: CommandSession, _ fault: inout String?
    ) throws(OutputError) {
        do throws(LectureError) {
            if try server.reloadAccess() { session.report("the access file was read again.") }
            fault = nil
        } catch {
            guard fault != error.message else { return }
            fault = error.message
            try session.report(error)
        }
    }

    private static func watch(
        _ path: String, _ session: CommandSession, changed: @escaping @Sendable () -> Void
    ) -> FolderWatch? {
        do throws(LectureError) { return try FolderWatch(PathText.directory(of: path), changed: changed) } catch {
            session.context.say("changes of the access file count after SIGHUP only (\(error.cause)).", .warning)
            return nil
        }
    }
}

/// Where a server listens, from the settings.
enum ServePlace {
    /// The access file of the settings.
    static func accessFile(_ session: CommandSession) throws(LectureError) -> String {
        guard let path = session.configuration.serve.accessFile.value else {
            throw LectureError(.parameter, detail: "no --access, no configuration file and no HOME")
        }
        return path
    }

    /// What the server needs.
    ///
    /// - Parameter session: the command.
    /// - Returns: the options.
    /// - Throws: ``UsageError`` for `--listen`; `LectureError`: `addressExposed`, `tlsIncomplete`, `accessMissing`.
    static func options(_ session: CommandSession) throws -> ServeOptions {
        let settings = session.configuration.serve
        let access = try accessFile(session)
        let store = session.configuration.storeDirectory.value
        var options = ServeOptions(accessFile: access, keyFile: "\(store)/serve.key")
        (options.address, options.port) = try place(settings.listen, session.command)
        options.version = ProgramVersion.number
        options.deviceDirectory = session.configuration.deviceDirectory.value
        (options.names, options.isBehindProxy) = (settings.names.value, settings.isBehindProxy.value)
        switch (settings.certificate.value, settings.key.value) {
        case (let certificate?, let key?): options.tls = ServeOptions.TLSFiles(certificate: certificate, key: key)
        case (nil, nil): break
        default:
            throw LectureError(.tlsIncomplete)
        }
        guard options.address.hasPrefix("127.") || options.tls != nil || options.isBehindProxy else {
            throw LectureError(.addressExposed, detail: options.address)
        }
        if unsafe Glibc.access(access, F_OK) != 0, errno == ENOENT {
            throw LectureError(.accessMissing, detail: access)
        }
        return options
    }

    /// Reads an address of IPv4 and a port.
    private static func place(_ listen: Setting<String>, _ command: ParsedCommand) throws -> (String, UInt16) {
        let parts = listen.value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, let port = UInt16(parts[1]) {
            let bytes = parts[0].split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            if bytes.count == 4, !bytes.contains(nil) { return (parts[0], port) }
        }
        let sentence = "an IPv4 address and a port, such as 127.0.0.1:8080"
        if listen.origin == .file {
            throw LectureError(.configuration, detail: "serve.listen", cause: "it is \(sentence)")
        }
        throw UsageError("'--listen' takes \(sentence).", path: command.path)
    }
}
