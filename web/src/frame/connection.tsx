// Whether the coordinator answers: a word in the header, and a banner if it does not.
import { formatClock } from "../format/times";
import { now } from "../state/clock";
import { connection } from "../state/store";
import type { TabLink } from "../state/tabs";
import { Button } from "../ui/button";
import { WarningIcon } from "../ui/icons";
import { Moment } from "../ui/times";

const words = {
  connecting: "Connecting",
  live: "Live",
  polling: "Every 5 s",
  locked: "Token needed",
  offline: "Offline",
};

export function ConnectionBadge() {
  const { state } = connection.value;
  const title =
    state === "polling"
      ? "The live stream does not arrive; a proxy may hold it back. The dashboard asks for everything every 5 seconds."
      : state === "live"
        ? "Changes arrive as they happen."
        : "";
  return (
    <span class={`connection connection-${state}`} title={title} role="status">
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">{words[state]}</span>
    </span>
  );
}

export function ConnectionBanner({ stream }: { stream: TabLink }) {
  const current = connection.value;
  if (current.state === "locked") {
    return (
      <div class="banner" role="alert">
        <WarningIcon />
        <span>You need the user token of this coordinator to see its jobs.</span>
        <Button small onPress={() => stream.retryNow()}>
          Enter the token
        </Button>
      </div>
    );
  }
  if (current.state !== "offline") return null;
  const seconds = Math.max(0, Math.ceil((current.retryAtMs - now.value) / 1000));
  return (
    <div class="banner" role="region" aria-label="Connection">
      <WarningIcon />
      <span role="alert">
        Coordinator unreachable since <Moment ms={current.sinceMs}>{formatClock(current.sinceMs)}</Moment>.
        What you see is from before; jobs keep running without it.
      </span>
      <span class="banner-retry">
        {seconds > 0 ? `Retrying in ${seconds} s` : "Retrying…"}
        <Button small onPress={() => stream.retryNow()}>
          Retry now
        </Button>
      </span>
    </div>
  );
}
