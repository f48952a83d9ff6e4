// The frame around every page: navigation, the state of the connection, dialogs, and the choice of page by address.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { LiveStream } from "./api/live";
import { ConnectionBadge, ConnectionBanner } from "./components/connection";
import { HelpDialog } from "./components/help_dialog";
import { HelpIcon, Logo, MoonIcon, SunIcon, SystemIcon } from "./components/icons";
import { Notice } from "./components/notice";
import { TokenDialog } from "./components/token_dialog";
import { AccountsPage } from "./pages/accounts_page";
import { ExperimentPage } from "./pages/experiment_page";
import { ExperimentsPage } from "./pages/experiments_page";
import { JobPage } from "./pages/job_page";
import { JobsPage } from "./pages/jobs_page";
import { NodesPage } from "./pages/nodes_page";
import { QueuePage } from "./pages/queue_page";
import { SubmitPage } from "./pages/submit_page";
import { helpOpen } from "./state/keyboard";
import { route } from "./state/router";
import { nextTheme, theme } from "./state/theme";
import { enterUserToken, mayChange } from "./state/token";

const sections: [path: string, title: string][] = [
  ["jobs", "Jobs"],
  ["queue", "Queue"],
  ["nodes", "Nodes"],
  ["accounts", "Accounts"],
  ["experiments", "Experiments"],
  ["submit", "Submit"],
];

export function App({ stream }: { stream: LiveStream }) {
  return (
    <>
      <a class="skip-link" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header />
      <ConnectionBanner stream={stream} />
      <Main>
        <Page />
      </Main>
      <HelpDialog />
      <TokenDialog />
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Header() {
  const section = route.value.path[0] ?? "jobs";
  return (
    <header class="header">
      <a class="brand" href="#/jobs">
        <Logo />
        <span class="brand-word">Podium</span>
      </a>
      <nav aria-label="Pages">
        {sections.map(([path, title]) => (
          <a key={path} href={`#/${path}`} aria-current={section === path ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <span class="header-end">
        <ReadOnlyButton />
        <ConnectionBadge />
        <ThemeButton />
        <button
          type="button"
          class="icon-button"
          aria-label="Keyboard help"
          title="Keyboard help (?)"
          onClick={() => (helpOpen.value = true)}
        >
          <HelpIcon />
        </button>
      </span>
    </header>
  );
}

function ReadOnlyButton() {
  if (mayChange.value) return null;
  return (
    <button
      type="button"
      class="button button-small"
      title="The token in use is the agents'. Enter the user token to change anything."
      onClick={() => void enterUserToken()}
    >
      Read only
    </button>
  );
}

function ThemeButton() {
  const current = theme.value;
  const icon = { system: <SystemIcon />, light: <SunIcon />, dark: <MoonIcon /> }[current];
  const text = `Theme: ${current}`;
  return (
    <button type="button" class="icon-button" aria-label={text} title={`${text} (t)`} onClick={nextTheme}>
      {icon}
    </button>
  );
}

/** Keyboard and screen reader follow a change of page; the first page leaves the focus where it is. */
function Main({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const path = route.value.path.join("/");
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current !== path) main.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {children}
    </main>
  );
}

function Page() {
  const [section = "jobs", id] = route.value.path;
  const number = Number(id);
  const isNumber = id !== undefined && Number.isSafeInteger(number) && number > 0;
  useTitle(section, id);
  if (section === "jobs" && id === undefined) return <JobsPage />;
  if (section === "jobs" && isNumber) return <JobPage key={number} id={number} />;
  if (section === "queue") return <QueuePage />;
  if (section === "nodes") return <NodesPage />;
  if (section === "accounts") return <AccountsPage />;
  if (section === "experiments" && id === undefined) return <ExperimentsPage />;
  if (section === "experiments" && isNumber) return <ExperimentPage key={number} id={number} />;
  if (section === "submit") return <SubmitPage />;
  return (
    <div class="page">
      <h1 class="visually-hidden">Not found</h1>
      <Notice kind="empty" title="There is no such page">
        Go to <a href="#/jobs">all jobs</a>.
      </Notice>
    </div>
  );
}

function useTitle(section: string, id: string | undefined): void {
  useEffect(() => {
    const title = sections.find(([path]) => path === section)?.[1] ?? "Podium";
    document.title = id === undefined ? `${title} · Podium` : `${title} ${id} · Podium`;
  }, [section, id]);
}
