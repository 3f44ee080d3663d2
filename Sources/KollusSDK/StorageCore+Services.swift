import Foundation
import LectureKit
import LectureModel

/// Licences, learning reports, the streaming cache, and background downloads.
extension StorageCore {
    // MARK: Licences

    /// Renews licences; an empty batch also reports its start and end.
    func renew(_ selection: RenewalSelection) async throws -> KollusRenewal {
        let manager = try manager()
        do {
            let planned = try await manager.licences.planRenewal(of: selection)
            guard planned.isEmpty else { return KollusRenewal(try await manager.licences.renew(selection)) }
            let nothing = KollusRenewal(total: 0, renewed: 0, failed: 0, waiting: 0)
            notify(.renewalBegan(total: 0))
            notify(.renewalEnded(nothing))
            return nothing
        } catch { throw KollusError.ofWaiting(error) }
    }

    func beginRenewal(all: Bool) {
        guard managerOrLog("updateDownloadDRMInfo") != nil else { return }
        let window = self[\.settings].renewalWindow
        let selection: RenewalSelection =
            all ? .all : window > 0 ? .within(.milliseconds(Int64(window * 1000))) : .expired
        beginning { [weak self] in
            do { _ = try await self?.renew(selection) } catch {
                self?.notify(.trouble(KollusError.of(error)))
                LogUtil.utilLog("updateDownloadDRMInfo: \(error.localizedDescription)")
            }
        }
    }

    // MARK: Learning reports

    func sendReports() async throws -> ReportSendResult {
        let manager = try manager()
        do {
            let result = try await manager.reports.send()
            notify(.reportsSent(delivered: result.delivered, refused: result.refused, left: result.left))
            return result
        } catch { throw KollusError.of(error) }
    }

    /// Every call reports its own counts, even if the store cannot be used.
    func beginSending() {
        guard managerOrLog("sendStoredLms") != nil else { return }
        beginning { [weak self] in
            guard let self else { return }
            do {
                let result = try await sendReports()
                deliverer.post(.reportsEnded(delivered: result.delivered, failed: result.refused + result.left))
            } catch {
                LogUtil.utilLog("sendStoredLms: \(error.localizedDescription)")
                deliverer.post(.reportsEnded(delivered: 0, failed: 0))
            }
        }
    }

    // MARK: The streaming cache

    func setCacheLimit(_ megabytes: Int) {
        guard megabytes >= 0, let manager = managerOrLog("setCacheSize") else { return }
        let (bytes, isOver) = Int64(megabytes).multipliedReportingOverflow(by: 1 << 20)
        do { try waiting { try await manager.streams.setCacheLimit(isOver ? .max : bytes) } } catch {
            LogUtil.utilLog("setCacheSize: \(error.localizedDescription)")
        }
    }

    // MARK: Patience and background

    func setPatience(_ timeout: Int, _ retries: Int) {
        guard timeout > 0, retries >= 0 else {
            return LogUtil.utilLog("setNetworkTimeOut: seconds from 1, retries from 0")
        }
        let running = state.withLock { state in
            (state.values.timeout, state.values.retries) = (timeout, retries)
            return state.running
        }
        do { try running?.manager.wait { try $0.setPatience(timeout: .seconds(timeout), retries: retries) } } catch {
            LogUtil.utilLog("setNetworkTimeOut: \(error.localizedDescription)")
        }
    }

    func setExtraParameter(_ text: String?) {
        let running = state.withLock { state in
            state.values.extraParameter = text
            return state.running
        }
        running?.manager.licences.wait { $0.setParameter(text) }
    }

    /// The worker waits for the end of this process from now on, so that it continues however the process ends.
    func setBackground(_ isOn: Bool) {
        let (running, program) = state.withLock { state in
            state.values.isBackgroundDownload = isOn
            return (state.running, state.values.settings.workerProgram)
        }
        guard let running, isOn != (running.worker != nil) else { return }
        if isOn {
            do {
                let worker = try BackgroundWorker(
                    running.configuration, configurationFile: running.configurationFile, program: program)
                state.withLock { $0.running?.worker = worker }
            } catch { LogUtil.utilLog("setBackgroundDownload: \(KollusError(error).localizedDescription)") }
        } else {
            state.withLock { $0.running?.worker = nil }
            running.worker?.dismiss()
        }
    }
}
