// The frame around every page: navigation, the state of the connection, dialogs, and the choice of page by address.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../ui/button";
import { ConnectionBadge, ConnectionBanner } from "./connection";
import { HelpDialog } from "./help_dialog";
import { ChevronIcon, HelpIcon, Logo, MoonIcon, SunIcon, SystemIcon } from "../ui/icons";
import { Menu } from "../ui/menu";
import { TokenDialog } from "./token_dialog";
import { ownTitle } from "../hooks/use_title";
import { useScrollPlace } from "../hooks/use_scroll_place";
import { matchRoute, routes, sectionOf, titleOf, type Match, type PageRoute } from "../routes";
import { helpOpen } from "../state/keyboard";
import { place, route } from "../state/router";
import type { TabLink } from "../state/tabs";
import { nextTheme, theme } from "../state/theme";
import { enterUserToken, mayChange } from "../state/token";
import { PageView, prepare, usePage, type ShownPage } from "./page_view";

export function App({ stream }: { stream: TabLink }) {
  const match = matchRoute(route.value.path);
  const loading = usePage(match);
  useDocumentTitle(match);
  return (
    <>
      <a class="skip-link" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header />
      <ConnectionBanner stream={stream} />
      <Main shown={match && loading.shown}>
        <PageView match={match} loading={loading} />
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

const inNavigation = routes.filter(({ key }) => key !== null);
const pages = inNavigation.filter(({ apart }) => !apart);
const actions = inNavigation.filter(({ apart }) => apart);
/** The number of pages that a narrow window shows outside of the menu. */
const firstPages = 3;

function Header() {
  const section = sectionOf(route.value.path);
  return (
    <header class="header">
      <a class="brand" href="#/overview">
        <Logo />
        <span class="brand-word">Podium</span>
      </a>
      <nav aria-label="Pages">
        {pages.map((page, index) => (
          <PageLink key={page.path} page={page} section={section} later={index >= firstPages} />
        ))}
        <MorePages section={section} />
      </nav>
      <span class="header-end">
        {actions.map((page) => (
          <PageLink key={page.path} page={page} section={section} />
        ))}
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

interface LinkProperties {
  page: PageRoute;
  section: string;
  /** In narrow windows the page is in the menu. */
  later?: boolean;
}

function PageLink({ page, section, later }: LinkProperties) {
  return (
    <a
      class={page.apart ? "button button-primary" : later ? "is-later" : undefined}
      href={`#/${page.path}`}
      aria-current={section === page.path ? "page" : undefined}
      onPointerEnter={() => prepare(page)}
    >
      {page.title}
    </a>
  );
}

/** The button says which page of the menu is shown. */
function MorePages({ section }: { section: string }) {
  const others = pages.slice(firstPages);
  const shown = others.find(({ path }) => path === section);
  const face = (
    <>
      {shown?.title ?? "More"}
      <ChevronIcon />
    </>
  );
  return (
    <Menu
      face={face}
      name={shown ? `${shown.title}, more pages` : "More pages"}
      className={shown ? "more-pages is-shown" : "more-pages"}
    >
      {others.map((page) => (
        <li key={page.path}>
          <PageLink page={page} section={section} />
        </li>
      ))}
    </Menu>
  );
}

function ReadOnlyButton() {
  if (mayChange.value) return null;
  return (
    <Button
      small
      title="The token in use is the agents' token, which only reads. Enter the user token to make changes."
      onPress={() => void enterUserToken()}
    >
      Read only
    </Button>
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

/**
 * Keyboard and screen reader follow a change of page; the first page leaves the focus where it is. A new page opens at its
 * top, one that the reader comes back to where they left it.
 */
function Main({ shown, children }: { shown: ShownPage | null; children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const path = shown && `${shown.page.path} ${shown.id}`;
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== null && before.current !== path) main.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  useScrollPlace("page", main, `${place.value} ${path}`);
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {children}
    </main>
  );
}

function useDocumentTitle(match: Match | null): void {
  const title = ownTitle.value ?? `${match ? titleOf(match) : "Not found"} · Podium`;
  useEffect(() => {
    document.title = title;
  }, [title]);
}
