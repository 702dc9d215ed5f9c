import { expect, test } from "vitest";
import { proveForeignMember } from "../../../../src/operations/processes/foreign-members.ts";
import { signalProcess } from "../../../../src/os/process/process-table.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { readForeign } from "../../../../src/team/records/foreign-record.ts";
import type { TeamRef } from "../../../../src/team/ref.ts";
import {
  contextOutsideTmux,
  type ForeignPeer,
  foreignPeer,
  joinByHand,
  teamInTmuxHome,
  teammateArguments,
} from "../../../support/team/foreign-peer.ts";
import { eventually } from "../../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../../support/tmux/private-tmux.ts";

async function setUp(): Promise<{
  t: PrivateTmux;
  ref: TeamRef;
  prove: (name: string) => ReturnType<typeof proveForeignMember>;
}> {
  const t = privateTmux();
  t.session();
  const ref = await teamInTmuxHome(t);
  const ctx = contextOutsideTmux(t, ref);
  const prove = (name: string) => {
    const config = readTeam(ref);
    const member = config.members.find((one) => one.name === name);
    if (member === undefined) throw new Error(`${name} is not a member`);
    return proveForeignMember(ctx, config, member);
  };
  return { t, ref, prove };
}

async function end({ process }: ForeignPeer): Promise<void> {
  signalProcess(process.pid, "SIGKILL");
  await eventually("the process's end", () => !signalProcess(process.pid, 0 as unknown as NodeJS.Signals));
}

test.each([
  ["its command line names it", false],
  ["it has erased its command line, and runs in the recorded pane", true],
])("a foreign member › is proven with its pane when %s", async (_when, erases) => {
  const { t, ref, prove } = await setUp();
  const peer = await foreignPeer(t, ref, "ada", { erases });
  const { pid, procStart } = peer.process;
  expect(await prove("ada")).toMatchObject({
    alive: true,
    process: { pid, procStart },
    place: { paneId: peer.pane, backend: "tmux" },
  });
});

test("a foreign member › is known to have ended once its proven process is gone, though its pane is not", async () => {
  const { t, ref, prove } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  await prove("ada");
  await end(peer);
  expect(await prove("ada")).toMatchObject({ alive: false, process: { pid: peer.process.pid } });
});

test("a foreign member › is unknown, not ended, if its process was never proven", async () => {
  const { t, ref, prove } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  await end(peer);
  expect(await prove("ada")).toEqual({ alive: null, why: "unseen" });
});

test("a foreign member › is ambiguous when two processes have its name", async () => {
  const { t, ref, prove } = await setUp();
  await foreignPeer(t, ref, "ada");
  await foreignPeer(t, ref, "bob", { words: teammateArguments(ref, "ada") });
  expect(await prove("ada")).toEqual({ alive: null, why: "ambiguous" });
});

test("a foreign member › is proven again after its restart in another pane", async () => {
  const { t, ref, prove } = await setUp();
  const peer = await foreignPeer(t, ref, "ada");
  await prove("ada");
  await end(peer);
  const next = await foreignPeer(t, ref, "bob", { words: teammateArguments(ref, "ada") });
  expect(await prove("ada")).toMatchObject({
    alive: true,
    process: { pid: next.process.pid },
    place: { paneId: next.pane },
  });
});

test.each([
  ["another root", { env: { CLAUDE_CONFIG_DIR: "/elsewhere" } }],
  ["another team", { words: ["--agent-id", "ada@other", "--agent-name", "ada", "--team-name", "other"] }],
  [
    "a member with a longer name",
    { words: ["--agent-id", "ada2@crew", "--agent-name", "ada2", "--team-name", "crew"] },
  ],
  ["a person, in the pane with the recorded id", { erases: true, env: { CLAUDECODE: "" } }],
])("the process of %s › does not count as the foreign member's", async (_whose, options) => {
  const { t, ref, prove } = await setUp();
  await foreignPeer(t, ref, "ada", options);
  expect(await prove("ada")).toEqual({ alive: null, why: "unseen" });
});

test("a recycled pane id › proves nothing, when the member joined long before its process started", async () => {
  const { t, ref, prove } = await setUp();
  await foreignPeer(t, ref, "bob", { erases: true });
  const { tmuxPaneId } = readTeam(ref).members.find(({ name }) => name === "bob") ?? {};
  // The pane id is from a tmux server that has ended; the next server gave the same id to bob's pane.
  await joinByHand(ref, "ada", { tmuxPaneId: tmuxPaneId ?? "", joinedAt: Date.now() - 3_600_000 });
  expect(await prove("ada")).toEqual({ alive: null, why: "unseen" });
});

test("a tmux server › is not a member, although its command line still names one", async () => {
  const { t, ref, prove } = await setUp();
  await joinByHand(ref, "ada");
  const other = privateTmux({ env: { CLAUDE_CONFIG_DIR: t.root } });
  other.tmux("new-session", "-d", "--", "sh", "-c", "exec cat", "sh", ...teammateArguments(ref, "ada"));
  // Until then, the pane's shell has that command line too.
  const command = (): string => other.tmux("list-panes", "-a", "-F", "#{pane_current_command}");
  await eventually("the program of the pane", () => command() === "cat");
  expect(await prove("ada")).toEqual({ alive: null, why: "unseen" });
});

test("a process below another member's pane › is proven without that pane", async () => {
  const { t, ref, prove } = await setUp();
  const pane = t.tmux("new-window", "-d", "-t", "=work:", "-P", "-F", "#{pane_id}", "--", "env", "sh");
  await joinByHand(ref, "ada", { tmuxPaneId: "" });
  const words = [
    "env",
    `CLAUDE_CONFIG_DIR=${t.root}`,
    "sh",
    "-c",
    "'sleep 600; :'",
    "sh",
    ...teammateArguments(ref, "ada"),
  ];
  // In the background of a shell, as the command of another agent.
  t.tmux("send-keys", "-t", pane, `set -m; ${words.join(" ")} &`, "Enter");
  const proof = await eventually("its process", async () => {
    const seen = await prove("ada");
    return seen.alive === true ? seen : undefined;
  });
  expect(proof.place).toBeUndefined();
});

test("a foreign member › is proven without a record in a team of another program", async () => {
  const { t, ref, prove } = await setUp();
  await foreignPeer(t, ref, "ada");
  await updateTeam(ref, ({ schemaVersion: _, ...config }) => config);
  expect(await prove("ada")).toMatchObject({ alive: true });
  expect(readForeign(ref, "ada")).toBeUndefined();
});
