// Starts the dashboard: the address, the clock, the keyboard, the live stream, then the page.
import { render } from "preact";
import { App } from "./frame/app";
import { routes } from "./routes";
import { startClock } from "./state/clock";
import { startKeyboard } from "./state/keyboard";
import { startRouter } from "./state/router";
import { startStore } from "./state/store";
import { startTheme } from "./state/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/controls.css";
import "./styles/dialogs.css";
import "./styles/tables.css";

const destinations = Object.fromEntries(
  routes.flatMap(({ key, path }) => (key === null ? [] : [[key, `#/${path}`]])),
);

startTheme();
startRouter();
startClock();
startKeyboard(destinations);
const stream = startStore();
render(<App stream={stream} />, document.getElementById("app")!);
