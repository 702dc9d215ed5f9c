import { expect, test } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { cliIn, type Ended } from "../../support/processes/in-process-cli.ts";
import {
  type ForeignPeer,
  foreignPeer,
  IDLE,
  joinByHand,
  peerSays,
  peerTakes,
  teamInTmuxHome,
} from "../../support/team/foreign-peer.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

interface Setup {
  readonly t: PrivateTmux;
  readonly ref: TeamRef;
  readonly peer: ForeignPeer;
  teams(...words: string[]): Promise<Ended>;
  /** Runs a command that follows. @param onOut receives each piece of its output */
  follow(words: readonly string[], onOut: (text: string) => void): Promise<Ended>;
}

async function setUp(): Promise<Setup> {
  const t = privateTmux();
  t.session();
  const ref = await teamInTmuxHome(t);
  const peer = await foreignPeer(t, ref, "ada");
  const cli = cliIn(t.home);
  const set = Object.entries(t.env).filter(([, value]) => value !== undefined);
  const env = Object.fromEntries(set) as Record<string, string>;
  const teams = (...words: string[]) => cli(words, { env });
  return { t, ref, peer, teams, follow: (words, onOut) => cli(words, { env, onOut }) };
}

/** Starts a turn of the member. */
async function work(ref: TeamRef): Promise<void> {
  await sendMessage(ref, { from: LEAD_NAME, to: "ada", text: "work" });
  peerTakes(ref, "ada");
}

const stateOf = async ({ teams }: Setup): Promise<string> => {
  const { members } = (await teams("status", "--json")).json<{ members: Record<string, string>[] }>();
  const ada = members.find(({ name }) => name === "ada");
  return `${ada?.state} ${ada?.stateFrom}`;
};

test("interrupt › presses Escape in the proven pane of a foreign member, which is then idle", async () => {
  const setup = await setUp();
  await work(setup.ref);
  expect(await stateOf(setup)).toBe("running inbox");
  const done = await setup.teams("interrupt", "ada", "--json");
  expect(done.json()).toMatchObject({ name: "ada", outcome: "pressed" });
  await eventually("Escape", () => setup.peer.shows().includes("Interrupted 1"));
  expect(await stateOf(setup)).toBe("idle interrupt");
});

test("interrupt › presses nothing in the pane of a foreign member that is idle", async () => {
  const { teams, ref, peer } = await setUp();
  peerSays(ref, "ada", IDLE);
  expect((await teams("interrupt", "ada", "--json")).json()).toMatchObject({ outcome: "idle" });
  expect(peer.shows()).not.toContain("Interrupted");
});

test.each([
  ["in copy mode", ["copy-mode"], "it is in copy mode"],
  ["without input", ["select-pane", "-d"], "its input is off"],
  [
    "in a synchronized window",
    ["set-option", "-w", "synchronize-panes", "on"],
    "passes each key to all panes",
  ],
])("interrupt › presses nothing in a foreign member's pane %s, and says why", async (_which, words, why) => {
  const { t, teams, ref, peer } = await setUp();
  await work(ref);
  const [command = "", ...rest] = words;
  t.tmux(command, "-t", peer.pane, ...rest);
  const refused = await teams("interrupt", "ada", "--json");
  expect(refused.error()).toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringContaining(why) });
  expect(peer.shows()).not.toContain("Interrupted");
});

test("interrupt › presses nothing while another program has the input of the pane", async () => {
  const { t, teams, ref, peer } = await setUp();
  await work(ref);
  process.kill(peer.process.pid, "SIGSTOP");
  await eventually("the shell", () => /Stopped/.test(peer.shows()));
  t.tmux("send-keys", "-t", peer.pane, "cat", "Enter");
  const refused = await eventually("another program", async () => {
    const ended = await teams("interrupt", "ada", "--json");
    return ended.code === 1 ? ended.error() : undefined;
  });
  expect(refused.message).toContain("another program in it has the keyboard");
});

test.each([
  ["interrupt", ["ada"], "Escape was not pressed"],
  ["type", ["ada", "yes"], "Nothing was typed"],
  ["keys", ["ada", "Enter"], "Nothing was typed"],
])(
  "%s › presses nothing in a pane whose program may still show a startup dialog",
  async (command, words, what) => {
    const { teams, ref, peer } = await setUp();
    const { message, hint } = (await teams(command, ...words, "--json")).error();
    expect(message).toContain(what);
    expect(message).toContain("a startup dialog may be open there");
    expect(hint).toContain("teams attach ada");
    expect(peer.shows()).not.toMatch(/Interrupted|key/);
    // A message from its session proves that no startup dialog is open any more.
    peerSays(ref, "ada", IDLE);
    expect((await teams(command, ...words)).code).toBe(0);
  },
);

test("interrupt › asks a foreign member without a proven pane in a message, and says what that means", async () => {
  const { teams, ref } = await setUp();
  await joinByHand(ref, "bob");
  const { out } = await teams("interrupt", "bob");
  expect(out).toContain("Another program may read the request only after its turn.");
});

test("peek and logs › print the pane of a foreign member", async () => {
  const { teams, peer, t } = await setUp();
  t.tmux("send-keys", "-t", peer.pane, "h");
  await eventually("its reaction", () => peer.shows().includes('key "h"'));
  expect((await teams("peek", "ada")).out).toContain('Welcome\nkey "h"');
  expect((await teams("logs", "ada", "-n", "1", "--json")).json()).toEqual({ lines: ['key "h"'] });
  expect((await teams("logs", "ada", "--raw", "--json")).error()).toMatchObject({ code: "INVALID_INPUT" });
});

test("peek -f › follows the pane of a foreign member, and ends with its process although the shell stays", async () => {
  const { follow, peer, t } = await setUp();
  let shown = "";
  const following = follow(["peek", "ada", "-f"], (text) => {
    shown += text;
  });
  await eventually("its screen", () => shown.includes("Welcome"));
  t.tmux("send-keys", "-t", peer.pane, "q");
  expect((await following).code).toBe(0);
  expect(t.tmux("list-panes", "-a", "-F", "#{pane_id}")).toContain(peer.pane);
});

test("hide, show and attach › move and find the pane of a foreign member", async () => {
  const { teams, peer, t } = await setUp();
  t.tmux("split-window", "-d", "-t", peer.pane, "--", "env", "cat");
  const windowOf = (): string =>
    t.tmux("display-message", "-p", "-t", peer.pane, "#{window_name} #{window_panes}");
  expect((await teams("hide", "ada", "--json")).json()).toMatchObject({ hidden: true, moved: true });
  expect(windowOf()).toBe("ada 1");
  expect((await teams("hide", "ada", "--json")).json()).toMatchObject({ hidden: true, moved: false });
  expect((await teams("show", "ada", "--json")).json()).toMatchObject({ moved: true });
  expect(windowOf()).toBe("crew 1");
  const { command } = (await teams("attach", "ada", "--json")).json<{ command: string[] }>();
  expect(command.at(-1)).toMatch(new RegExp(`\\.${peer.pane}$`));
});

test("peek, hide and attach › refuse a foreign member without a proven pane, and say why", async () => {
  const { teams, ref, peer } = await setUp();
  await joinByHand(ref, "bob", { tmuxPaneId: peer.pane });
  for (const word of ["peek", "hide", "attach"])
    expect((await teams(word, "bob", "--json")).error()).toMatchObject({
      code: "RECIPIENT_INACTIVE",
      message:
        "No pane is proven to be bob's: another program started it, and no process here shows its name.",
    });
});
