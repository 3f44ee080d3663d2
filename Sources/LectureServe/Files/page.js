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
