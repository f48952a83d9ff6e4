// Starts the dashboard: the address, the clock, the keyboard, the live stream, then the page.
import { render } from "preact";
import { App } from "./app";
import { startClock } from "./state/clock";
import { startKeyboard } from "./state/keyboard";
import { startRouter } from "./state/router";
import { startStore } from "./state/store";
import { startTheme } from "./state/theme";
import "uplot/dist/uPlot.min.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/controls.css";
import "./styles/dialogs.css";
import "./styles/job_table.css";
import "./styles/job_page.css";
import "./styles/why.css";
import "./styles/charts.css";
import "./styles/nodes.css";
import "./styles/submit.css";
import "./styles/lists.css";
import "./styles/accounts.css";

startTheme();
startRouter();
startClock();
startKeyboard();
const stream = startStore();
render(<App stream={stream} />, document.getElementById("app")!);
