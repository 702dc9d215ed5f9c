import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { readPaneScreen, submitTyped, typeMessage } from "../../../../src/adapter/native/type-message.ts";
import { run as runProgram } from "../../../../src/os/process/run.ts";
import { tmuxServer } from "../../../../src/tmux/server.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type KeyReader, keyReader } from "../../../support/tmux/key-reader.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

const FORTY = Array.from({ length: 40 }, (_, i) => `line ${i} "quoted" \\n $HOME #{pane_id} é😀;`).join("\n");
/** A program answers within milliseconds, unless the machine stalls. */
const PATIENT = { echoMs: 240_000, settleMs: 240_000, confirmMs: 240_000 };
/** For a result that never comes. */
const SHORT_MS = 700;

describe("typing a message into a pane (S29)", () => {
  test.each([[], ["alternate"], ["late"]])(
    "submits 40 lines and 64 KB as one message each (program: %j)",
    async (...habits) => {
      const { t, reader } = await start(...habits);
      expect(await say(t, reader, FORTY)).toEqual({ kind: "sent" });
      expect(reader.submitted()).toEqual([FORTY]);
      const long = "0123456789abcde\n".repeat(4096).trimEnd();
      const idleScreen = await screenNow(t, reader);
      expect(await say(t, reader, long, { idleScreen })).toEqual({ kind: "sent" });
      expect(reader.submitted()).toEqual([FORTY, long]);
      expect(t.tmux("list-buffers")).toBe("");
    },
  );

  test("strips characters of the text that end the paste, submit it or act as keys", async () => {
    const { t, reader } = await start();
    const text = "one\rtwo\r\nthree \x1b[201~\rfour\x03\x04\x7f\x9b201~ \x00\tfive\n\n";
    expect(await say(t, reader, text)).toEqual({ kind: "sent" });
    expect(reader.submitted()).toEqual(["one\ntwo\nthree [201~\nfour201~ \tfive"]);
    await expect(say(t, reader, "\x1b\r\n ")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("joins lines for a program without bracketed paste", async () => {
    const { t, reader } = await start("unbracketed");
    expect(await say(t, reader, "one\n\ttwo\nthree", { lineEnds: "joined" })).toEqual({ kind: "sent" });
    expect(reader.submitted()).toEqual(["one two three"]);
  });

  test("holds a message of several lines when tmux reports no bracketed paste", async () => {
    const { t, reader } = await start("unbracketed");
    // The answer of tmux 3.6.
    const call = async (command: readonly string[]) =>
      (await t.server.call(command)).replace("\t\t", "\t0\t");
    const server = { ...t.server, call };
    expect(await typeMessage(server, reader.place, FORTY, options(reader))).toEqual({
      kind: "held",
      why: "unbracketed",
    });
    expect(await typeMessage(server, reader.place, "one line", options(reader))).toEqual({ kind: "sent" });
    expect(reader.submitted()).toEqual(["one line"]);
  });

  test("leaves the user's paste buffers unchanged", async () => {
    const { t, reader } = await start();
    t.tmux("set-buffer", "copied by the user");
    t.tmux("set-buffer", "-b", "named", "by the user");
    const before = [t.tmux("list-buffers"), t.tmux("show-buffer")];
    expect((await say(t, reader, FORTY)).kind).toBe("sent");
    await copyMode(t, reader);
    const idleScreen = await screenNow(t, reader);
    expect((await say(t, reader, FORTY, { idleScreen })).kind).toBe("held");
    expect([t.tmux("list-buffers"), t.tmux("show-buffer")]).toEqual(before);
  });

  test("does not type into another pane when panes are synchronized", async () => {
    const { t, reader } = await start();
    t.tmux("split-window", "-d", "-t", reader.pane, "--", "env", "cat");
    t.tmux("set-option", "-w", "-t", reader.pane, "synchronize-panes", "on");
    const idleScreen = await screenNow(t, reader);
    expect(await say(t, reader, "quiet", { idleScreen })).toEqual({ kind: "sent" });
    const others = t.tmux("list-panes", "-t", reader.pane, "-F", "#{cursor_x},#{cursor_y} #{pane_id}");
    expect(others.split("\n").filter((row) => !row.endsWith(` ${reader.pane}`))).toEqual([
      expect.stringMatching(/^0,0 /),
    ]);
  });
});

describe("typing is held (S29)", () => {
  test.each([
    ["copy mode is on", copyMode, ["-X", "cancel"]],
    ["a tree is open", enters("tree-mode", "choose-tree"), ["q"]],
    ["the clock is on", enters("clock-mode", "clock-mode"), ["q"]],
  ] as const)("while %s, and works again afterwards", async (_, enterMode, leave) => {
    const { t, reader } = await start();
    await enterMode(t, reader);
    expect(await say(t, reader, FORTY)).toEqual({ kind: "held", why: "in-mode" });
    t.tmux("send-keys", "-t", reader.pane, ...leave);
    await eventually("the mode's end", () => modeOf(t, reader) === "");
    expect(reader.submitted()).toEqual([]);
    expect(reader.shows()).toContain("sent 0");
    expect(await say(t, reader, FORTY)).toEqual({ kind: "sent" });
    expect(reader.submitted()).toEqual([FORTY]);
  });

  test("while the user has a draft in the input, even if it is only spaces", async () => {
    const { t, reader } = await start();
    await t.attach("=work");
    for (const draft of ["git pu", "  "]) {
      t.tmux("send-keys", "-t", reader.pane, "-l", draft);
      await eventually("the draft", async () => (await screenNow(t, reader)).cursor.x === 2 + draft.length);
      expect(await say(t, reader, FORTY)).toEqual({ kind: "held", why: "screen-changed" });
      t.tmux("send-keys", "-t", reader.pane, ...[...draft].map(() => "BSpace"));
      await eventually("the draft's end", async () => (await screenNow(t, reader)).cursor.x === 2);
    }
    expect(await say(t, reader, "after the draft")).toEqual({ kind: "sent" });
    expect(reader.submitted()).toEqual(["after the draft"]);
  });

  test("while the pane's input is off", async () => {
    const { t, reader } = await start();
    t.tmux("select-pane", "-d", "-t", reader.pane);
    expect(await say(t, reader, "hello")).toEqual({ kind: "held", why: "input-off" });
    t.tmux("select-pane", "-e", "-t", reader.pane);
    expect(await say(t, reader, "hello")).toEqual({ kind: "sent" });
  });

  test("when the pane is dead, and the tmux server survives", async () => {
    const { t, reader } = await start();
    t.tmux("set-option", "-p", "-t", reader.pane, "remain-on-exit", "on");
    process.kill(reader.place.panePid ?? 0);
    await eventually("its end", () => flag(t, reader, "pane_dead") === "1");
    expect(await say(t, reader, "hello")).toEqual({ kind: "held", why: "gone" });
    expect(t.tmux("list-buffers")).toBe("");
    // Also if it dies between capture and paste: the command that types repeats the check.
    const idleScreen = { ...(await screenNow(t, reader)), dead: false };
    const stale = { ...t.server, call: () => Promise.resolve(screenText(idleScreen)) };
    expect(await typeMessage(stale, reader.place, "hello", { ...options(reader), idleScreen })).toEqual({
      kind: "held",
      why: "gone",
    });
    expect(t.tmux("list-buffers")).toBe("");
  });

  test("when the pane's id now belongs to another process (S39)", async () => {
    const { t, reader } = await start();
    for (const other of [{ instance: "another" }, { panePid: 1 }, { paneId: "%0" }, { paneId: "%999" }]) {
      const place = { ...reader.place, ...other };
      expect(await typeMessage(t.server, place, "hello", options(reader))).toEqual({
        kind: "held",
        why: "gone",
      });
    }
    t.tmux("respawn-pane", "-k", "-t", reader.pane, "--", "env", "cat");
    expect(await say(t, reader, "hello")).toEqual({ kind: "held", why: "gone" });
    await t.killServer();
    expect(await say(t, reader, "hello")).toEqual({ kind: "held", why: "gone" });
  });

  test("when the user types between the check and the paste", async () => {
    const { t, reader } = await start("alternate");
    // The stale capture shows an empty input; the command that types must notice the keys typed since.
    t.tmux("send-keys", "-t", reader.pane, "-l", "x");
    await eventually("the draft", () => reader.shows().includes("| x"));
    const stale = { ...t.server, call: () => Promise.resolve(screenText(reader.idleScreen)) };
    expect(await typeMessage(stale, reader.place, "hello", options(reader))).toEqual({
      kind: "held",
      why: "screen-changed",
    });
    await copyMode(t, reader);
    expect(await typeMessage(stale, reader.place, "hello", options(reader))).toEqual({
      kind: "held",
      why: "in-mode",
    });
    expect(reader.submitted()).toEqual([]);
  });
});

describe("interrupted typing", () => {
  test("types all or nothing, and leaves no tmux buffer", async () => {
    const { t, reader } = await start();
    const sent: string[] = [];
    const run: typeof runProgram = (file, args, options) => {
      if (options?.input !== undefined) sent.push(String(options.input));
      return runProgram(file, args, options);
    };
    const server = tmuxServer({ socket: t.server.socket, env: t.env, run });
    expect((await typeMessage(server, reader.place, "all or nothing", options(reader))).kind).toBe("sent");
    const [batch = ""] = sent;
    expect(batch).toContain("all or nothing");
    // Commands that tmux receives when the sender dies while writing them.
    for (let length = 0; length < batch.length - 1; length += 7) {
      const { status } = spawnSync("tmux", [...t.server.socketArgs, "source-file", "-"], {
        env: t.env,
        input: batch.slice(0, length),
      });
      expect([length, status !== null, t.tmux("list-buffers")]).toEqual([length, true, ""]);
    }
    expect(reader.submitted()).toEqual(["all or nothing"]);
    expect(reader.shows()).not.toContain("all");
    // The next message removes a buffer that was left anyway.
    t.tmux("set-buffer", "-b", `teams-${reader.place.instance}`, "left behind");
    const idleScreen = await screenNow(t, reader);
    expect(await say(t, reader, "next", { idleScreen })).toEqual({ kind: "sent" });
    expect(reader.submitted()).toEqual(["all or nothing", "next"]);
    expect(t.tmux("list-buffers")).toBe("");
  });
});

describe("pressing Enter", () => {
  test("is skipped when the text does not appear", async () => {
    const { t, reader } = await start("deaf");
    expect(await say(t, reader, "hello", { timeouts: { ...PATIENT, echoMs: SHORT_MS } })).toEqual({
      kind: "unsent",
      why: "unseen",
    });
    expect(reader.submitted()).toEqual([]);
    expect(t.tmux("list-buffers")).toBe("");
  });

  test("is unconfirmed when the screen does not change", async () => {
    const { t, reader } = await start("still");
    expect(await say(t, reader, "hello", { timeouts: { ...PATIENT, confirmMs: SHORT_MS } })).toEqual({
      kind: "unconfirmed",
    });
    expect(reader.submitted()).toEqual(["hello"]);
  });

  test("waits while the user has scrolled up, and follows when the screen is back", async () => {
    const { t, reader } = await start();
    const server = beforeEnter(t, () => copyMode(t, reader));
    const unsent = await typeMessage(server, reader.place, FORTY, options(reader));
    expect(unsent).toMatchObject({ kind: "unsent", why: "in-mode" });
    if (unsent.kind !== "unsent" || unsent.typed === undefined) throw new Error("no screen");
    expect(await submitTyped(t.server, reader.place, unsent.typed, options(reader))).toMatchObject({
      why: "in-mode",
    });
    t.tmux("send-keys", "-t", reader.pane, "-X", "cancel");
    expect(await submitTyped(t.server, reader.place, unsent.typed, options(reader))).toEqual({
      kind: "sent",
    });
    expect(reader.submitted()).toEqual([FORTY]);
  });

  test("is left to the user who has typed after the text", async () => {
    const { t, reader } = await start();
    const server = beforeEnter(t, async () => {
      t.tmux("send-keys", "-t", reader.pane, "-l", " and more");
      await eventually("the user's words", () => reader.shows().includes("and more"));
    });
    const unsent = await typeMessage(server, reader.place, "hello", options(reader));
    expect(unsent).toMatchObject({ kind: "unsent", why: "screen-changed" });
    expect(reader.submitted()).toEqual([]);
  });
});

describe("a user who types at the same time", () => {
  // The tmux calls for one message: two or more captures, the paste, captures until the echo settles, Enter, reads for its effect.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "has the text submitted once or not at all (key before call %i)",
    async (nth) => {
      const { t, reader } = await start();
      const terminal = await t.attach("=work");
      t.tmux("select-window", "-t", reader.pane);
      const idleScreen = await screenNow(t, reader);
      const types = async (): Promise<void> => {
        const { x } = (await screenNow(t, reader)).cursor;
        terminal.type("x");
        await eventually("the key", async () => (await screenNow(t, reader)).cursor.x !== x);
      };
      const server = beforeEachCall(t, (call) => (call === nth ? types() : Promise.resolve()));
      const { kind } = await typeMessage(server, reader.place, "said once", {
        ...options(reader),
        idleScreen,
      });
      const submitted = reader.submitted();
      if (kind === "sent") expect(submitted).toEqual([expect.stringMatching(/^said oncex?$/)]);
      else expect([kind, submitted]).toEqual([kind === "held" ? "held" : "unsent", []]);
      if (kind === "held") expect(reader.shows()).not.toContain("said");
      expect(t.tmux("list-buffers")).toBe("");
    },
  );
});

describe("concurrent senders", () => {
  test("take turns: one is sent, the others are held", async () => {
    const { t, reader } = await start("late");
    const outcomes = await Promise.all(["first", "second", "third"].map((text) => say(t, reader, text)));
    expect(outcomes.filter(({ kind }) => kind === "sent")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "held")).toEqual([
      { kind: "held", why: "screen-changed" },
      { kind: "held", why: "screen-changed" },
    ]);
    expect(reader.submitted()).toHaveLength(1);
  });
});

async function start(...habits: string[]): Promise<{ readonly t: PrivateTmux; readonly reader: KeyReader }> {
  const t = privateTmux();
  t.session();
  return { t, reader: await keyReader(t, ...habits) };
}

function options({ idleScreen, lock }: KeyReader) {
  return { idleScreen, lock, timeouts: PATIENT };
}

function say(
  t: PrivateTmux,
  reader: KeyReader,
  text: string,
  more: Partial<Parameters<typeof typeMessage>[3]> = {},
) {
  return typeMessage(t.server, reader.place, text, { ...options(reader), ...more });
}

async function screenNow(t: PrivateTmux, reader: KeyReader) {
  const screen = await readPaneScreen(t.server, reader.place);
  if (screen === undefined) throw new Error("no screen");
  return screen;
}

function flag(t: PrivateTmux, { pane }: KeyReader, name: string): string {
  return t.tmux("display-message", "-p", "-t", pane, `#{${name}}`);
}

function modeOf(t: PrivateTmux, reader: KeyReader): string {
  return flag(t, reader, "pane_mode");
}

async function copyMode(t: PrivateTmux, reader: KeyReader): Promise<void> {
  t.tmux("copy-mode", "-t", reader.pane);
  await eventually("copy mode", () => modeOf(t, reader) === "copy-mode");
}

function enters(mode: string, ...command: string[]) {
  return async (t: PrivateTmux, reader: KeyReader): Promise<void> => {
    await t.attach("=work");
    t.tmux(...command, "-t", reader.pane);
    await eventually(mode, () => modeOf(t, reader) === mode);
  };
}

/** Returns a screen in the format of a capture. */
function screenText(s: KeyReader["idleScreen"]): string {
  const head = [s.width, s.height, s.history, s.cursor.x, s.cursor.y, s.alternate ? 1 : 0, 0, 0, 0, "", ""];
  return `${[head.join("\t"), ...s.rows].join("\n")}\n`;
}

/** Runs `act` before each tmux call. */
function beforeEachCall(t: PrivateTmux, act: (call: number) => Promise<void>): PrivateTmux["server"] {
  let calls = 0;
  return {
    ...t.server,
    call: async (command) => {
      calls += 1;
      await act(calls);
      return t.server.call(command);
    },
    batch: async (commands) => {
      calls += 1;
      await act(calls);
      return t.server.batch(commands);
    },
  };
}

/** Runs `act` before the second command that types. */
function beforeEnter(t: PrivateTmux, act: () => Promise<void>): PrivateTmux["server"] {
  let typed = 0;
  return {
    ...t.server,
    batch: async (commands) => {
      typed += 1;
      if (typed === 2) await act();
      return t.server.batch(commands);
    },
  };
}
