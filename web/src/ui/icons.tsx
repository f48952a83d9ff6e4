// Every icon, on a 16 × 16 grid in the colour of the text. Icons are decorative: a word is always beside them or in a label.
import type { ComponentChildren } from "preact";
import type { DeviceUse } from "../model/node_list";
import type { JobState, NodeState, SpecFile } from "../api/types";

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

const line = {
  fill: "none",
  stroke: "currentColor",
  "stroke-width": 1.6,
  "stroke-linecap": "round",
  "stroke-linejoin": "round",
} as const;

export function JobStateIcon({ state }: { state: JobState }) {
  switch (state) {
    case "queued":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6" {...line} />
          <path d="M8 4.8V8l2.2 1.6" {...line} />
        </Icon>
      );
    case "starting":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6" {...line} stroke-dasharray="2.4 2.3" />
          <circle cx="8" cy="8" r="1.6" fill="currentColor" />
        </Icon>
      );
    case "running":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6.8" fill="currentColor" />
          <path d="M6.4 5.2v5.6L11 8z" class="icon-cut" />
        </Icon>
      );
    case "stopping":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6" {...line} />
          <rect x="5.6" y="5.6" width="4.8" height="4.8" rx=".8" fill="currentColor" />
        </Icon>
      );
    case "succeeded":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6.8" fill="currentColor" />
          <path d="m5 8.2 2.1 2.1L11 6.2" class="icon-cut-line" />
        </Icon>
      );
    case "failed":
      return (
        <Icon>
          <path d="M8 .9 15.1 8 8 15.1.9 8z" fill="currentColor" />
          <path d="m6 6 4 4m0-4-4 4" class="icon-cut-line" />
        </Icon>
      );
    case "cancelled":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6" {...line} />
          <path d="M3.9 12.1 12.1 3.9" {...line} />
        </Icon>
      );
    case "stopped":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6" {...line} />
          <rect x="5.6" y="5.6" width="4.8" height="4.8" fill="currentColor" />
        </Icon>
      );
  }
}

export function NodeStateIcon({ state }: { state: NodeState }) {
  switch (state) {
    case "up":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6.8" fill="currentColor" />
          <path d="m5 8.2 2.1 2.1L11 6.2" class="icon-cut-line" />
        </Icon>
      );
    case "unknown":
      return (
        <Icon>
          <circle cx="8" cy="8" r="6" {...line} />
          <path d="M6.4 6.4a1.7 1.7 0 1 1 2.3 1.6c-.5.2-.7.5-.7 1M8 11.2v.1" {...line} />
        </Icon>
      );
    case "lost":
      return (
        <Icon>
          <path d="M8 .9 15.1 8 8 15.1.9 8z" fill="currentColor" />
          <path d="m6 6 4 4m0-4-4 4" class="icon-cut-line" />
        </Icon>
      );
  }
}

export function DeviceUseIcon({ use }: { use: DeviceUse }) {
  if (use === "unhealthy")
    return (
      <Icon>
        <path d="M8 2.2 14.6 13.6H1.4z" {...line} />
        <path d="M8 6.6v3M8 11.6v.1" {...line} />
      </Icon>
    );
  return (
    <Icon>
      <rect x="2.5" y="2.5" width="11" height="11" rx="2" {...line} />
    </Icon>
  );
}

/** The icons of jobs: refused looks like failed, submitted like succeeded, left like cancelled. */
export function SpecStateIcon({ state }: { state: SpecFile["state"] }) {
  const alike = { refused: "failed", submitted: "succeeded", left: "cancelled" } as const;
  return <JobStateIcon state={alike[state]} />;
}

export const MoreIcon = () => (
  <Icon>
    <path d="M3.5 8v.1M8 8v.1M12.5 8v.1" {...line} stroke-width={2.4} />
  </Icon>
);
export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.4" {...line} />
    <path d="m10.4 10.4 3.4 3.4" {...line} />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="m4 4 8 8m0-8-8 8" {...line} />
  </Icon>
);
export const SunIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="3" {...line} />
    <path
      d="M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13"
      {...line}
    />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M13.4 9.7A5.8 5.8 0 0 1 6.3 2.6a5.8 5.8 0 1 0 7.1 7.1z" {...line} />
  </Icon>
);
export const SystemIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6" {...line} />
    <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
  </Icon>
);
export const HelpIcon = () => (
  <Icon>
    <path d="M5.8 6a2.2 2.2 0 1 1 3 2c-.6.3-.8.7-.8 1.4M8 12v.1" {...line} />
    <circle cx="8" cy="8" r="7" {...line} stroke-width={1.2} />
  </Icon>
);
export const WarningIcon = () => (
  <Icon>
    <path d="M8 2.2 14.6 13.6H1.4z" {...line} />
    <path d="M8 6.6v3M8 11.6v.1" {...line} />
  </Icon>
);
export const BranchIcon = () => (
  <Icon>
    <circle cx="4.5" cy="3.5" r="1.7" {...line} />
    <circle cx="4.5" cy="12.5" r="1.7" {...line} />
    <circle cx="11.5" cy="5" r="1.7" {...line} />
    <path d="M4.5 5.2v5.6M11.5 6.7c0 2.6-3.4 2.4-5.6 3.6" {...line} />
  </Icon>
);
export const Logo = () => (
  <svg class="logo" viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="7" class="logo-ground" />
    <path d="M6 25V18h6v7zM13 25V8h6v17zM20 25V13h6v12z" fill="#fff" />
  </svg>
);

export function HeldIcon() {
  return (
    <Icon>
      <circle cx="8" cy="8" r="6" {...line} />
      <path d="M6.4 5.6v4.8M9.6 5.6v4.8" {...line} />
    </Icon>
  );
}

export function ChevronIcon() {
  return (
    <Icon>
      <path d="m6 4 4 4-4 4" {...line} />
    </Icon>
  );
}

export function EyeIcon({ closed }: { closed: boolean }) {
  return (
    <Icon>
      <path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8Z" {...line} />
      {closed ? <path d="m3 13 10-10" {...line} /> : <circle cx="8" cy="8" r="1.8" fill="currentColor" />}
    </Icon>
  );
}

export function PinIcon() {
  return (
    <Icon>
      <path d="M5.5 2h5l-.8 4.6 2 2.4H4.3l2-2.4zM8 9v5" {...line} />
    </Icon>
  );
}
