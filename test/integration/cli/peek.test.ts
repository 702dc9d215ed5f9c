import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatJson } from "../../../src/os/files/atomic-write.ts";
import { readPlace, writePlace } from "../../../src/team/records/read-records.ts";
import { cliIn, type Ended } from "../../support/processes/in-process-cli.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { type Watched, watchedPane } from "../../support/tmux/watched-pane.ts";

describe("teams peek -f with a pane", () => {
  it("prints the current text, then the changes, and nothing twice", async () => {
    const { t, watched, peek } = await start();
    await peek.has("ready\n");
    watched.does("seq 3");
    await peek.has("ready\n1\n2\n3\n");
    watched.does("clear; echo after");
    await peek.has("ready\n1\n2\n3\nafter\n");
    watched.does("printf 'no line end'");
    await peek.has("ready\n1\n2\n3\nafter\nno line end\n");
    // Following adds neither a tmux client nor a pipe, and changes nothing in the pane.
    expect(t.tmux("list-clients")).toBe("");
    const facts = "#{pane_pipe} #{pane_in_mode} #{pane_width}x#{pane_height}";
    expect(t.tmux("display-message", "-p", "-t", watched.pane, facts)).toBe("0 0 200x50");
    expect(await peek.stop()).toMatchObject({ code: 130, out: "ready\n1\n2\n3\nafter\nno line end\n" });
  });

  it("prints the alternate screen, and does not repeat the text before it", async () => {
    const { watched, peek } = await start();
    watched.does("seq 60");
    await peek.has(/\n60\n$/);
    const before = peek.out();
    watched.does("printf '\\033[?1049h\\033[Hdrawn'");
    await peek.has(`${before}drawn\n`);
    watched.does("printf '\\033[?1049l'; echo back");
    await peek.has(`${before}drawn\nback\n`);
  });

  it("says how many lines of a burst it left out, or that it left some out", async () => {
    const { watched, peek } = await start();
    await peek.has("ready\n");
    watched.does("seq 1500");
    await peek.has(/\n1500\n$/);
    expect(peek.out()).toMatch(/… \d+ lines omitted …/);
    let next = 1;
    for (const row of peek.out().trimEnd().split("\n").slice(1)) {
      const left = /^… (\d+) lines omitted …$/.exec(row)?.[1];
      if (left === undefined) expect(row).toBe(String(next));
      next += Number(left ?? 1);
    }
    // More than the history keeps, so the number of lost lines is unknown.
    watched.does("seq 10001 19000");
    await peek.has(/1500\n… some lines omitted …\n(.*\n)+19000\n$/);
  });

  it("reads the screen below the user's copy mode, and leaves the mode alone", async () => {
    const { t, watched, peek } = await start();
    await peek.has("ready\n");
    const go = join(t.home, "go");
    watched.does(`until [ -e '${go}' ]; do sleep 0.02; done; echo later`);
    t.tmux("copy-mode", "-t", watched.pane);
    writeFileSync(go, "");
    await peek.has(/later\n$/);
    expect(t.tmux("display-message", "-p", "-t", watched.pane, "#{pane_mode}")).toBe("copy-mode");
  });

  it("prints one object per line with --json", async () => {
    const { watched, peek } = await start(["--json"]);
    await peek.has(/ready/);
    watched.does("echo one");
    await peek.has(/one/);
    endsWith(watched, { code: 3 });
    expect((await peek.ended).code).toBe(0);
    const objects = peek
      .out()
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text) as object);
    expect(objects).toEqual([
      { agent: "ada", lines: ["ready"], leftOut: 0 },
      { agent: "ada", lines: ["one"], leftOut: 0 },
      { agent: "ada", end: { code: 3, signal: null, at: 5, lastLines: [] } },
    ]);
  });

  it.each([
    [{ code: 0 }, "ada has ended: exit code 0."],
    [{ code: 137, signal: "SIGKILL" }, "ada has ended: SIGKILL."],
  ])("ends with the agent and prints how it ended: %j", async (exit, sentence) => {
    const { watched, peek } = await start();
    await peek.has("ready\n");
    watched.does("echo last words");
    endsWith(watched, exit);
    expect(await peek.ended).toMatchObject({ code: 0, err: "" });
    expect(peek.out()).toMatch(new RegExp(`^ready\n(last words\n)?${sentence}\n$`));
  });

  it("ends when the pane is gone for an unknown reason, and fails for a missing pane", async () => {
    const { t, watched, peek } = await start();
    await peek.has("ready\n");
    t.tmux("kill-pane", "-t", watched.pane);
    expect(await peek.ended).toMatchObject({ code: 0, out: "ready\nada has ended.\n" });
    expect(await peek.again()).toMatchObject({ code: 1, out: "" });
  });

  it("starts over when the agent was restarted", async () => {
    const t = privateTmux();
    const watched = await watchedPane(t);
    // The ending of an earlier start does not count.
    endsWith({ ...watched, place: { ...watched.place, instance: "earlier" } }, { code: 1 });
    const peek = begin(t, watched);
    await peek.has("ready\n");
    const other = { ...watched.place, instance: "another" };
    t.tmux("set-option", "-p", "-t", watched.pane, "@teams_agent", other.instance);
    writePlace(watched.ref, "ada", other);
    await peek.has("ready\nready\n");
  });
});

describe("teams peek -f without a pane", () => {
  it("follows the agent's log", async () => {
    const t = privateTmux();
    const watched = await watchedPane(t);
    const logFile = watched.ref.paths.agent("ada").log;
    writeFileSync(logFile, "first\n");
    const { server: _, paneId: __, ...place } = watched.place;
    writePlace(watched.ref, "ada", { ...place, backend: "process", logFile });
    const peek = begin(t, watched);
    await peek.has("first\n");
    appendFileSync(logFile, "second\nthi");
    await peek.has("first\nsecond\nthi\n");
    appendFileSync(logFile, "rd\n");
    await peek.has("first\nsecond\nthi\nthird\n");
    expect(readPlace(watched.ref, "ada")?.logFile).toBe(logFile);
    process.kill(watched.place.panePid ?? 0, "SIGKILL");
    expect((await peek.ended).out).toBe("first\nsecond\nthi\nthird\nada has ended.\n");
  });
});

interface Peek {
  out(): string;
  /** Waits until the whole output equals or matches this. */
  has(wanted: string | RegExp): Promise<unknown>;
  /** Interrupts the command like Ctrl-C. */
  stop(): Promise<Ended>;
  again(): Promise<Ended>;
  readonly ended: Promise<Ended>;
}

async function start(words: readonly string[] = []) {
  const t = privateTmux();
  const watched = await watchedPane(t);
  return { t, watched, peek: begin(t, watched, words) };
}

function begin(t: PrivateTmux, { ref }: Watched, words: readonly string[] = []): Peek {
  const cli = cliIn(t.home);
  const stopping = new AbortController();
  onTestFinished(() => stopping.abort());
  let printed = "";
  const line = ["peek", "ada", "--team", ref.team, "-f", ...words];
  const env = Object.fromEntries(
    Object.entries(t.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const run = () =>
    cli(line, {
      env,
      signal: stopping.signal,
      onOut: (text) => {
        printed += text;
      },
    });
  const ended = run();
  return {
    out: () => printed,
    ended,
    again: run,
    has: (wanted) =>
      eventually(JSON.stringify(String(wanted)), () =>
        typeof wanted === "string" ? printed === wanted : wanted.test(printed),
      ).catch((cause: unknown) => {
        throw new Error(`Printed was ${JSON.stringify(printed.slice(-2_000))}.`, { cause });
      }),
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

function endsWith({ ref, place }: Watched, exit: { readonly code: number; readonly signal?: string }): void {
  const record = { instance: place.instance, at: 5, lastLines: [], ...exit };
  writeFileSync(ref.paths.agent("ada").exit, formatJson(record));
}
