import { spawn } from "node:child_process";
import { join } from "node:path";
import { kill } from "node:process";
import {
  addByHand,
  changeConfig,
  hookOptions,
  openShell,
  type PersonsPane,
  startLine,
  startTeammate,
} from "../team/by-hand.ts";
import type { Crew } from "../team/crew.ts";
import { until } from "../team/wait.ts";
import { check, interruptNotices, type Row } from "./row.ts";

/** Starts a claude by hand, gives it a first turn, and ends it with its pane and its membership after the work. */
async function withTeammate(
  crew: Crew,
  name: string,
  work: (pane: PersonsPane) => Promise<unknown>,
  options: readonly string[] = [],
): Promise<unknown> {
  const pane = await startTeammate(crew, name, options);
  try {
    const word = crew.word("hello");
    await crew.ok("send", name, `do-say: ${word} by ${name}`);
    await crew.turnEnded(`${word} by ${name}`, 60_000);
    await crew.state(name, "idle");
    return await work(pane);
  } finally {
    pane.close();
    await crew.teams("kill", name, "--force");
  }
}

/** A real claude that a person started as a member: teams has no records of it. */
export const BY_HAND: readonly Row[] = [
  {
    id: "hand",
    text: "started by hand: its state is derived, with its source; `teams wait` ends",
    limit: 180_000,
    run: ({ crew }) =>
      withTeammate(crew, "hal", async () => {
        const sources: string[] = [];
        const seen = async (state: string): Promise<void> => {
          const { stateFrom, alive, pid } = await crew.state("hal", state);
          check(Boolean(stateFrom), `the state ${state} has no source`);
          check(alive === true && pid !== null, "its process is not proven", [alive, pid]);
          sources.push(`${state} from ${stateFrom}`);
        };
        await seen("idle");
        const word = crew.word("hand");
        await crew.ok("send", "hal", `${crew.linger(8)}\ndo-run: mkdir ${word}\ndo-say: ${word} said`);
        await seen("running");
        const request = await crew.approval(word);
        await seen("needs-input");
        await crew.ok("approve", request.id);
        await crew.turnEnded(`${word} said`);
        check(crew.made(word), "the command has not run");
        await crew.ok("wait", "hal", "--timeout", "30");
        await seen("idle");
        return sources.join(", ");
      }),
  },
  {
    id: "hand-pane",
    text: "started by hand: `interrupt` presses Escape; `peek`, `logs`, `hide`, `show` and `type` work",
    limit: 180_000,
    run: ({ crew }) =>
      withTeammate(crew, "hal", async (pane) => {
        await crew.ok("send", "hal", `${crew.linger(620)}\ndo-say: it slept`);
        await until("the start of its command", () => crew.processes("linger 620").length > 0);
        await crew.state("hal", "running");
        await crew.ok("interrupt", "hal");
        const { stateFrom } = await crew.state("hal", "idle");
        check(stateFrom === "interrupt", "the interrupt is not the source", stateFrom);
        await until("the interrupt on its screen", () => /interrupted/i.test(crew.screen(pane)));
        for (const command of ["peek", "logs"])
          check((await crew.ok(command, "hal")).trim() !== "", `teams ${command} prints nothing`);
        for (const command of ["hide", "show"]) await crew.ok(command, "hal");
        const word = crew.word("typed");
        await crew.ok("type", "hal", `do-say: ${word} by hand`);
        await crew.turnEnded(`${word} by hand`);
      }),
  },
  {
    id: "hand-escape",
    text: "started by hand, with our hooks: an interrupt in its own screen is seen, and the lead is notified",
    limit: 150_000,
    run: ({ crew }) =>
      withTeammate(
        crew,
        "hal",
        async (pane) => {
          const before = await interruptNotices(crew, "hal");
          await crew.ok("send", "hal", `${crew.linger(630)}\ndo-say: it slept`);
          await until("the start of its command", () => crew.processes("linger 630").length > 0);
          pane.keys("Escape");
          const { stateFrom } = await crew.state("hal", "idle");
          check(stateFrom === "interrupt", "the interrupt is not the source", stateFrom);
          await until("an idle notice of it", async () => (await interruptNotices(crew, "hal")) > before);
        },
        hookOptions(crew, "hal"),
      ),
  },
  {
    id: "hand-mode",
    text: "started by hand: `teams mode` is obeyed, or refused with the reason",
    limit: 150_000,
    run: ({ crew }) =>
      withTeammate(crew, "hal", async () => {
        const word = crew.word("mode");
        const file = `${word}.txt`;
        const { code, err, out } = await crew.teams("mode", "hal", "acceptEdits");
        await crew.ok("send", "hal", `do-write: ${join(crew.repo, file)}\ndo-say: ${word} said`);
        const asked = await until(
          "the file, or a request for it",
          async () => crew.made(file) || (await crew.approvals()).find(({ from }) => from === "hal"),
        );
        if (asked !== true) await crew.ok("approve", asked.id);
        await crew.turnEnded(`${word} said`);
        if (code === 0) {
          check(asked === true, "teams says that the mode changed, and it still asks", out);
          return undefined;
        }
        check(/does not accept mode changes/.test(err), "the refusal has no reason", err);
        check(asked !== true, "teams refused, and it does not ask");
        return "refused with the reason";
      }),
  },
  {
    id: "hand-crash",
    text: "started by hand: a SIGKILL is noticed, and its tasks are unassigned",
    limit: 150_000,
    run: ({ crew }) =>
      withTeammate(crew, "hal", async () => {
        const { pid } = await crew.state("hal", "idle");
        const { task } = await crew.json<{ task: { id: string } }>("task", "add", crew.word("left"));
        await crew.ok("task", "update", task.id, "--owner", "hal", "--status", "in_progress");
        kill(pid ?? 0, "SIGKILL");
        const { stateFrom } = await crew.state("hal", "crashed");
        check(stateFrom === "process", "the process is not the source", stateFrom);
        await until("the task to be unassigned", async () => {
          await crew.member("hal");
          const shown = await crew.json<{ task: { owner?: string } }>("task", "show", task.id);
          return shown.task.owner === undefined;
        });
        await crew.leadGot("hal");
      }),
  },
  {
    id: "hand-end",
    text: "started by hand: `delete` refuses while its process is alive; `shutdown`: it agrees, ends, and does not come back",
    limit: 150_000,
    run: ({ crew }) =>
      withTeammate(crew, "hal", async () => {
        const { pid } = await crew.state("hal", "idle");
        const deleted = await crew.teams("delete", "crew");
        check(
          deleted.code !== 0 && deleted.err.includes("hal"),
          "it was deleted, or hal is not named",
          deleted.err,
        );
        await crew.ok("shutdown", "hal");
        const isMember = (): boolean => crew.config().members.some(({ name }) => name === "hal");
        check(!isMember(), "it is still a member");
        await processEnded(pid);
        // 2.1.34 writes the config while it exits.
        await crew.ok("status");
        check(!isMember(), "it has come back");
      }),
  },
  {
    id: "hand-kill",
    text: "started by hand: `kill` refuses without a proven process, and ends a proven one with its commands",
    limit: 180_000,
    async run({ crew }) {
      const pane = openShell(crew);
      addByHand(crew, "hal", pane);
      // A second process that names the same member: neither is proven.
      const words = ["--agent-id", "hal@crew", "--agent-name", "hal", "--team-name", "crew"];
      const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", ...words], {
        env: crew.env,
        stdio: "ignore",
      });
      try {
        await pane.start(startLine(crew, "hal"));
        await crew.ok("send", "hal", `${crew.linger(640)}\ndo-say: it slept`);
        await until("the start of its command", () => crew.processes("linger 640").length > 0, 60_000);
        const refused = await crew.teams("kill", "hal");
        check(
          refused.code !== 0 && /proven|proof/.test(refused.err),
          "not refused for lack of proof",
          refused,
        );
        check(crew.processes("linger 640").length > 0, "its command was ended");
        other.kill("SIGKILL");
        await until("the end of the other process", () => other.signalCode !== null);
        const { pid } = await until("a proven process", async () => {
          const member = await crew.member("hal");
          return member?.alive === true ? member : undefined;
        });
        await crew.ok("kill", "hal");
        await processEnded(pid);
        check(crew.processes("linger 640").length === 0, "its command still runs");
        check(
          crew.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n").includes(pane.paneId),
          "its pane is gone",
        );
      } finally {
        other.kill("SIGKILL");
        pane.close();
        await crew.teams("kill", "hal", "--force");
      }
    },
  },
  {
    id: "hand-back",
    text: "started by hand: our agent in the same team registers itself again when the config has lost it",
    limit: 150_000,
    run: ({ crew }) =>
      withTeammate(crew, "hal", async () => {
        await crew.ok("spawn", "own", "--model", "scripted", "--teammate-mode", "process");
        try {
          await crew.state("own", "idle");
          const isIn = (name: string): boolean => crew.config().members.some((one) => one.name === name);
          // The result of an unlocked change that began before our agent's change.
          changeConfig(crew, (config) => {
            config.members = config.members.filter(({ name }: { name: string }) => name !== "own");
          });
          const word = crew.word("meanwhile");
          await crew.ok("send", "hal", `do-say: ${word}`);
          await crew.turnEnded(word);
          await until("our agent to be a member again", () => isIn("own"));
          await crew.state("own", "idle");
          check(isIn("hal"), "the claude is missing");
        } finally {
          await crew.teams("kill", "own", "--force");
        }
      }),
  },
];

/** Waits for the end of a process: its shell may need a moment to reap it. */
function processEnded(pid: number | null): Promise<unknown> {
  return until("the end of its process", () => !isRunning(pid ?? 0), 5_000);
}

function isRunning(pid: number): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
