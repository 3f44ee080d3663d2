/// The style and the script of the page.
enum PageFiles {
    /// Takes the events of the server, updates bars, and loads changed parts of the page again.
    static let script = #"""
        'use strict';
        (() => {
          const state = document.getElementById('connection');
          let source = null, wasLost = false, pending = new Set(), isLoading = false, wait = 1000;
          let isPressed = false;

          const say = (text, isLost) => {
            if (!state || state.textContent === text) return;
            state.textContent = text;
            state.classList.toggle('lost', isLost);
          };

          const progress = (figures) => {
            for (const place of document.querySelectorAll('[data-progress]')) {
              if (place.dataset.progress !== figures.key) continue;
              place.querySelector('progress').value = figures.percent;
              place.querySelector('.figures').textContent = figures.text;
            }
          };

          // An element that has the focus is found again by its form or link, wherever it is then.
          const describe = (element) => {
            const form = element.closest('form');
            const own = form ? form.getAttribute('action') : element.getAttribute('href');
            return own === null ? null : [form ? 'form' : 'a', own];
          };

          const replace = (page, names) => {
            const focused = document.activeElement;
            for (const part of document.querySelectorAll('[data-part]')) {
              if (names && !names.has(part.dataset.part)) continue;
              const next = page.getElementById(part.id);
              if (!next || next.outerHTML === part.outerHTML) continue;
              const place = part.contains(focused) ? describe(focused) : null;
              part.replaceWith(document.adoptNode(next));
              if (!place) continue;
              const attribute = place[0] === 'form' ? 'action' : 'href';
              const found = [...next.querySelectorAll(place[0])]
                .find((element) => element.getAttribute(attribute) === place[1]);
              const target = found && (place[0] === 'form' ? found.querySelector('button') : found);
              if (target) target.focus();
            }
          };

          const load = async () => {
            if (isLoading || pending.size === 0) return;
            isLoading = true;
            const names = pending.has('*') ? null : pending;
            pending = new Set();
            try {
              const answer = await fetch(location.href, { credentials: 'same-origin' });
              if (answer.redirected && new URL(answer.url).pathname === '/sign-in') { location.reload(); return; }
              const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
              // A button that is replaced while it is pressed would not be clicked.
              if (isPressed) for (const name of names || ['*']) pending.add(name);
              else if (answer.ok) replace(page, names);
            } catch { /* The event stream notices that the server is gone, and everything is loaded again. */ }
            isLoading = false;
            if (!isPressed) load();
          };

          const connect = () => {
            source = new EventSource('/live');
            source.addEventListener('hello', () => {
              say(wasLost ? state.dataset.again : state.dataset.connected, false);
              if (wasLost) { pending.add('*'); load(); }
              wasLost = false;
              wait = 1000;
            });
            source.addEventListener('change', (event) => {
              const message = JSON.parse(event.data);
              message.progress.forEach(progress);

                             for (const name of message.changed) {
                if (document.querySelector(`[data-part="${name}"]`)) pending.add(name);
              }
              load();
            });
            source.addEventListener('error', () => {
              wasLost = true;
              say(state.dataset.lost, true);
              if (source.readyState !== EventSource.CLOSED) return;
              setTimeout(connect, wait);
              wait = Math.min(wait * 2, 30000);
            });
          };

          document.addEventListener('pointerdown', () => { isPressed = true; }, true);
          for (const name of ['pointerup', 'pointercancel']) {
            document.addEventListener(name, () => setTimeout(() => { isPressed = false; load(); }), true);
          }

          if (state && window.EventSource) {
            connect();
            window.addEventListener('pagehide', () => source.close());
            window.addEventListener('pageshow', (event) => { if (event.persisted) connect(); });
          }
        })();
        """#

    /// Colours and sizes, light and dark.
    static let style = #"""
        :root {
          color-scheme: light dark;
          --back: #f5f6f8; --card: #ffffff; --text: #1b2430; --quiet: #55606e; --line: #d9dee5; --control: #7b8794;
          --accent: #1d5fc4; --accent-text: #ffffff; --good: #17693a; --good-back: #e4f4ea; --bad: #b3261e;
          --bad-back: #fdeceb; --wait: #7a4b00; --wait-back: #fdf1dc; --busy: #1d5fc4; --busy-back: #e6effc;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #12161c; --card: #1b2129; --text: #e6eaf0; --quiet: #a5b0bd; --line: #313a46; --control: #7f8c9b;
            --accent: #8ab8ff; --accent-text: #0b1a30; --good: #84d8a4; --good-back: #16301f; --bad: #ffb1aa;
            --bad-back: #3d1a18; --wait: #f3c77a; --wait-back: #38290e; --busy: #9cc3ff; --busy-back: #17294a;
          }
        }
        *, *::before, *::after { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body {
          margin: 0; background: var(--back); color: var(--text); line-height: 1.55; font-size: 1rem;
          font-family: system-ui, "Noto Sans CJK KR", "Noto Sans KR", "Noto Sans JP", sans-serif;
            overflow-wrap: anywhere;
          min-height: 100vh; display: flex; flex-direction: column;
        }
        :lang(ja) { font-family: system-ui, "Noto Sans CJK JP", "Noto Sans JP", sans-serif; }
        :lang(ko) { word-break: keep-all; }
        header, main, footer { width: 100%; max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
        header {
          display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 2rem; padding-top: .75rem;
            padding-bottom: .75rem;
          border-bottom: 1px solid var(--line);
        }
        .brand { margin: 0; font-weight: 700; font-size: 1.1rem; }
        .brand a { color: inherit; text-decoration: none; }
        nav ul { display: flex; flex-wrap: wrap; gap: .25rem; list-style: none; margin: 0; padding: 0; }
        nav ul a {
          display: block; padding: .35rem .75rem; border-radius: .5rem; color: var(--text); text-decoration: none;
        }
        nav ul a:hover { background: var(--card); }
        nav ul a[aria-current] { background: var(--busy-back); color: var(--busy); font-weight: 600; }
        main { flex: 1; padding-bottom: 2.5rem; }
        h1 { font-size: 1.6rem; line-height: 1.25; margin: 1.5rem 0 1rem; }
        h2 { font-size: 1.05rem; margin: 0 0 .75rem; }
        a { color: var(--accent); text-underline-offset: .15em; }
        a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, main:focus-visible {
          outline: 3px solid var(--accent); outline-offset: 2px;
        }
        .skip { position: absolute; left: .5rem; top: -4rem; padding: .5rem 1rem; background: var(--card); z-index: 1; }
        .skip:focus { top: .5rem; }
        section, .filter, #list, .sign-in {
          background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1.1rem 1.25rem;
          margin: 0 0 1rem;
        }
        #calendar > section:last-child { margin-bottom: 0; }
        .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
        .columns > section { margin: 0; }
        .columns { margin-bottom: 1rem; }
        [data-part="summary"] { margin-bottom: 1.5rem; }
        .cards {
          display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 7rem), 1fr)); gap: .75rem;
          list-style: none; margin: 0; padding: 0;
        }
        .card a {
          display: block; padding: .75rem 1rem; border-radius: .6rem; text-decoration: none; color: var(--text);
          border: 1px solid var(--line); border-left: .3rem solid var(--control); height: 100%;
        }
        .card a:hover { border-color: var(--accent); }
        .card strong { display: block; font-size: 1.5rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
        .card span { color: var(--quiet); font-size: .9rem; }
        .card.completed a { border-left-color: var(--good); }
        .card.failed a { border-left-color: var(--bad); }
        .card.stopped a { border-left-color: var(--wait); }
        .card.downloading a { border-left-color: var(--busy); }
        .plain { list-style: none; margin: 0; padding: 0; }
        .plain > li { padding: .75rem 0; border-top: 1px solid var(--line); }
        .plain > li:first-child { border-top: 0; padding-top: 0; }
        .plain > li:last-child { padding-bottom: 0; }
        .lines > li { padding: .4rem 0; }
        .lines time { display: block; color: var(--quiet); font-size: .875rem; }
        .plain p { margin: .15rem 0; }
        .name { font-weight: 600; }
        .name .state { font-weight: 400; }
        .none, .count, .figures, small, .remedy { color: var(--quiet); }
        .none, .count { margin: 0 0 .5rem; }
        section > .none:last-child { margin: 0; }
        small, .figures { font-size: .875rem; }
        small { display: block; }
        .progress { display: grid; gap: .25rem; margin: .35rem 0; }
        progress, meter { width: 100%; height: .7rem; }
        progress {
          appearance: none; border: 1px solid var(--control); border-radius: 1rem; overflow: hidden;
            background: var(--back);
        }
        progress::-webkit-progress-bar { background: var(--back); }
        progress::-webkit-progress-value { background: var(--accent); transition: inline-size .6s; }
        progress::-moz-progress-bar { background: var(--accent); }
        .figures { font-variant-numeric: tabular-nums; }
        .state {
          display: inline-block; padding: .05rem .55rem; border-radius: .6rem; font-size: .875rem;
          background: var(--back); color: var(--quiet); border: 1px solid var(--line);
        }
        .state.completed { background: var(--good-back); color: var(--good); border-color: transparent; }
        .state.failed { background: var(--bad-back); color: var(--bad); border-color: transparent; }
        .state.stopped { background: var(--wait-back); color: var(--wait); border-color: transparent; }
        .state.downloading, .state.verifying, .state.loading {
          background: var(--busy-back); color: var(--busy); border-color: transparent;
        }
        .note {
          padding: .6rem 1rem; border-radius: .6rem; background: var(--good-back); color: var(--good); margin: 0 0 1rem;
        }
        .note.bad { background: var(--bad-back); color: var(--bad); }
        button, .action, input, select {
          font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--control);
          border-radius: .5rem; min-height: 2.25rem; padding: .25rem .8rem;
        }
        button, .action { cursor: pointer; display: inline-flex; align-items: center; text-decoration: none; }
        button:hover, .action:hover { border-color: var(--accent); color: var(--accent); }
        button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-text);
          font-weight: 600; }
        button.main:hover { color: var(--accent-text); text-decoration: underline; }
        button.bad, .action.bad { border-color: var(--bad); color: var(--bad); }
        input, select { width: 100%; min-width: 0; }
        .buttons { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0 0; }
        .buttons .buttons { margin: 0; }
        .buttons:empty { display: none; }
        td .buttons { margin: 0; }
        td button { white-space: nowrap; }
        td + td { overflow-wrap: break-word; }
        .filter {
          display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 7rem), 1fr)); gap: .75rem;
            align-items: end;
        }
        .filter label span, .sign-in label { display: block; font-size: .875rem; color: var(--quiet); }
        .filter .buttons { gap: 1rem; margin: 0; }
        .filter label { min-width: 0; }
        .sign-in { display: grid; gap: .75rem; max-width: 26rem; }
        .sign-in .none { margin: 0; font-size: .9rem; }
        .sign-in button { justify-content: center; }
        .facts { margin: 0; display: grid; gap: .5rem; }
        .facts > div { display: grid; grid-template-columns: minmax(6rem, 11rem) 1fr; gap: .25rem 1rem; }
        .facts dt { color: var(--quiet); }
        .facts dd { margin: 0; }
        code { font-size: .9em; }
        table { border-collapse: collapse; width: 100%; }
        th { text-align: left; font-size: .875rem; font-weight: 600; color: var(--quiet); white-space: nowrap; }
        th, td { padding: .55rem .75rem .55rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        tbody tr:last-child td { border-bottom: 0; }
        .pages { display: flex; flex-wrap: wrap; gap: 1.25rem; padding-top: .75rem; }
        footer {
          display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: center; padding-top: 1rem;
            padding-bottom: 1.5rem;
          border-top: 1px solid var(--line); color: var(--quiet); font-size: .9rem;
        }
        footer p { margin: 0; flex: 1 1 16rem; }
        #connection.lost { color: var(--bad); font-weight: 600; }
        .language { display: flex; gap: .5rem; align-items: center; }
        .language select { width: auto; }
        @media (max-width: 44rem) {
          header, main, footer { padding-left: .9rem; padding-right: .9rem; }
          nav ul a { padding: .35rem .55rem; }
          table, tbody, tr, td { display: block; width: 100%; }
          thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          tr { padding: .6rem 0; border-bottom: 1px solid var(--line); }
          tbody tr:last-child { border-bottom: 0; }
          td, td + td { overflow-wrap: anywhere; }
          td { border: 0; padding: .15rem 0; display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: .5rem; }
          td:first-child { grid-template-columns: minmax(0, 1fr); font-weight: 600; }
          .filter { grid-template-columns: repeat(2, minmax(0, 1fr)); }
          .filter label:first-child, .filter label:last-of-type, .filter .buttons { grid-column: 1 / -1; }
          td:first-child::before { content: none; }
          td::before { content: attr(data-head); color: var(--quiet); font-size: .875rem; font-weight: 400; }
          td:has(> .buttons:empty) { display: none; }
          .facts > div { grid-template-columns: 1fr; gap: 0; }
        }
        @media (prefers-reduced-motion: reduce) {
          *, *::before, *::after { transition: none !important; animation: none !important;
            scroll-behavior: auto !important; }
        }
        """#
}
