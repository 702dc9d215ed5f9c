import { signalProcess } from "../../../src/os/process/process-table.ts";
import type { Launched, LaunchOptions } from "../../support/backend/launched-agent.ts";
import { eventually } from "../../support/timing/eventually.ts";

/** One way to end an agent in a pane, or to try to, and the result. docs/endings.md lists them. */
export interface EndingCase {
  readonly what: string;
  /** A running agent, an agent that ignores signals, or a pane that waits for the user after its agent exited with 3. */
  readonly of: "working" | "deaf" | "crashed";
  readonly end: (run: Launched) => unknown;
  /** The exit record afterwards. */
  readonly written: { readonly code: number; readonly signal?: string; readonly lines: boolean } | "nothing";
  /** How waiting processes are notified; the bell rings after the record is written. */
  readonly notifiedBy: "bell" | "lifeline" | "nothing";
  /** There is no exit record, but an agent of teams reports the state exited when its terminal closes. */
  readonly reportsExit?: boolean;
  /** `without terminal`: the agent outlives its pane. */
  readonly pane: "held" | "closed" | "continues" | "without terminal" | "starts again";
}

export const AGENT_OF: Readonly<Record<EndingCase["of"], NonNullable<LaunchOptions["agent"]>>> = {
  working: "ready.sh",
  deaf: "deaf.sh",
  crashed: "ready.sh",
};

const LOST = { code: 129, signal: "SIGHUP", lines: false };
const keys = (run: Launched, ...names: readonly string[]) => run.tmux("send-keys", "-t", run.pane, ...names);
const exits = (code: number): EndingCase => ({
  what: `The program exits with ${code}`,
  of: "working",
  end: (run) => run.type(`exit ${code}`),
  written: { code, lines: code !== 0 },
  notifiedBy: "bell",
  pane: code === 0 ? "closed" : "held",
});
const dies = (signal: NodeJS.Signals, code: number): EndingCase => ({
  what: `The program gets ${signal}`,
  of: "working",
  end: (run) => signalProcess(run.program(), signal),
  written: { code, signal, lines: true },
  notifiedBy: "bell",
  pane: "held",
});
const loses = (what: string, end: EndingCase["end"]): EndingCase => {
  return { what, of: "working", end, written: LOST, notifiedBy: "bell", pane: "closed" };
};
const harmless = (what: string, of: "working" | "deaf", end: EndingCase["end"]): EndingCase => {
  return { what, of, end, written: "nothing", notifiedBy: "nothing", pane: "continues" };
};
/** A pane that waits for the user already has its exit record. */
const held = (what: string, end: EndingCase["end"], pane: EndingCase["pane"]): EndingCase => {
  const written = pane === "starts again" ? "nothing" : { code: 3, lines: true };
  return { what, of: "crashed", end, written, notifiedBy: pane === "closed" ? "lifeline" : "nothing", pane };
};

export const ENDINGS: readonly EndingCase[] = [
  exits(0),
  exits(3),
  exits(255),
  dies("SIGHUP", 129),
  dies("SIGINT", 130),
  dies("SIGQUIT", 131),
  dies("SIGABRT", 134),
  dies("SIGKILL", 137),
  // SIGUSR1 has another number on macOS.
  dies("SIGUSR1", process.platform === "linux" ? 138 : 158),
  dies("SIGSEGV", 139),
  dies("SIGPIPE", 141),
  dies("SIGTERM", 143),
  { ...dies("SIGINT", 130), what: "Ctrl-C in its pane", end: (run) => keys(run, "C-c") },
  { ...dies("SIGQUIT", 131), what: "Ctrl-\\ in its pane", end: (run) => keys(run, "C-\\") },
  harmless("Ctrl-Z in its pane", "working", (run) => keys(run, "C-z")),
  harmless("The terminal that shows the pane is closed", "working", async (run) => {
    await run.t.attach("=work");
    const pid = Number(run.tmux("list-clients", "-F", "#{client_pid}"));
    signalProcess(pid, "SIGHUP");
    await eventually("the end of the client", () => run.tmux("list-clients") === "");
  }),
  loses("`tmux kill-pane`", (run) => run.tmux("kill-pane", "-t", run.pane)),
  loses("`tmux kill-window`", (run) => run.tmux("kill-window", "-t", run.pane)),
  loses("`tmux kill-session`", (run) => run.tmux("kill-session", "-t", "=work")),
  loses("`tmux respawn-pane -k`", (run) => run.tmux("respawn-pane", "-k", "-t", run.pane, "--", "/bin/cat")),
  loses("`tmux kill-server`", (run) => run.tmux("kill-server")),
  loses("The tmux server gets SIGKILL", (run) => signalProcess(run.serverPid(), "SIGKILL")),
  loses("The outer script gets SIGHUP", (run) => signalProcess(run.outer(), "SIGHUP")),
  loses("The outer script gets SIGTERM", (run) => signalProcess(run.outer(), "SIGTERM")),
  loses("The outer script gets SIGKILL", (run) => signalProcess(run.outer(), "SIGKILL")),
  harmless("The inner script gets SIGHUP", "working", (run) => signalProcess(run.inner(), "SIGHUP")),
  harmless("The inner script gets SIGTERM", "working", (run) => signalProcess(run.inner(), "SIGTERM")),
  {
    what: "The inner script gets SIGKILL",
    of: "working",
    end: (run) => signalProcess(run.inner(), "SIGKILL"),
    written: "nothing",
    notifiedBy: "lifeline",
    reportsExit: true,
    pane: "closed",
  },
  harmless("Ctrl-C, Ctrl-\\, Ctrl-Z in its pane", "deaf", (run) => keys(run, "C-c", "C-\\", "C-z")),
  harmless("The program gets SIGHUP, SIGTERM", "deaf", (run) => {
    for (const signal of ["SIGHUP", "SIGTERM"] as const) signalProcess(run.program(), signal);
  }),
  { ...dies("SIGKILL", 137), of: "deaf" },
  {
    what: "`tmux kill-pane`",
    of: "deaf",
    end: (run) => run.tmux("kill-pane", "-t", run.pane),
    written: "nothing",
    notifiedBy: "nothing",
    pane: "without terminal",
  },
  {
    what: "The inner script gets SIGKILL",
    of: "deaf",
    end: (run) => signalProcess(run.inner(), "SIGKILL"),
    written: "nothing",
    notifiedBy: "lifeline",
    pane: "without terminal",
  },
  {
    what: "`tmux kill-pane`, and then the program by SIGKILL",
    of: "deaf",
    end: async (run) => {
      run.tmux("kill-pane", "-t", run.pane);
      await eventually("the pane's end", () => run.isGone(run.outer()));
      signalProcess(run.program(), "SIGKILL");
    },
    written: { code: 137, signal: "SIGKILL", lines: false },
    notifiedBy: "bell",
    pane: "closed",
  },
  held("`r` and Enter", (run) => run.type("r"), "starts again"),
  held("`q` and Enter", (run) => run.type("q"), "closed"),
  held(
    "Half-typed text: `quit` and Enter, `r` without Enter",
    (run) => keys(run, "quit", "Enter", "r"),
    "held",
  ),
  held(
    "Ctrl-C, Ctrl-\\, Ctrl-Z, Ctrl-D, three times each",
    (run) => keys(run, ...["C-c", "C-\\", "C-z", "C-d"].flatMap((key) => [key, key, key])),
    "held",
  ),
  held("`tmux kill-pane`", (run) => run.tmux("kill-pane", "-t", run.pane), "closed"),
  held("`tmux kill-server`", (run) => run.tmux("kill-server"), "closed"),
  held("The inner script gets SIGKILL", (run) => signalProcess(run.inner(), "SIGKILL"), "closed"),
];
