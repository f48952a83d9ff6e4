// Tabs whose choice is in the address. Arrow keys move between them, as the ARIA pattern requires.
import type { ComponentChildren } from "preact";
import { pushParams, route } from "../state/router";

interface Tab {
  id: string;
  title: string;
  content(): ComponentChildren;
}

interface Properties {
  label: string;
  param: string;
  tabs: [Tab, ...Tab[]];
}

export function Tabs({ label, param, tabs }: Properties) {
  const wanted = route.value.params.get(param);
  const chosen = tabs.find(({ id }) => id === wanted) ?? tabs[0];
  const choose = (tab: Tab) => pushParams({ [param]: tab === tabs[0] ? null : tab.id });
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length]!;
    event.preventDefault();
    choose(next);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <section class="panel tabs" aria-label={label}>
      <div class="tab-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`tab-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab === chosen}
            aria-controls="tab-panel"
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${chosen.id}`} key={chosen.id}>
        {chosen.content()}
      </div>
    </section>
  );
}
