import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Lack, Program } from "../program.ts";
import type { Approval, Crew, Variables } from "../team/crew.ts";
import { until } from "../team/wait.ts";
import { check, type Row } from "./row.ts";

/** Unsets the variables that contain a login of some program. */
const NO_LOGIN = Object.fromEntries(
  ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "CLAUDE_CONFIG_DIR"].map((name) => [
    name,
    undefined,
  ]),
);

/** The channels whose programs run in the sandbox as a whole. */
const IN_SANDBOX = new Set<Program["channel"]>(["acp", "http"]);

interface ListedCli {
  readonly name: string;
  readonly version: string | null;
  readonly login: { readonly state: string; readonly from: string | null; readonly hint: string | null };
}

async function listedCli(crew: Crew, cli: string, env: Variables = {}): Promise<ListedCli> {
  const { code, out, err } = await crew.teamsIn(env, "cli", "ls", "--json");
  check(code === 0, "teams cli ls failed", err);
  const own = (JSON.parse(out) as { clis: ListedCli[] }).clis.find(({ name }) => name === cli);
  if (own === undefined) throw new Error(`teams cli ls does not list ${cli}`);
  return own;
}

const ENDED = ["failed", "crashed", "exited"];
const SHOWN = {
  "needs-input": "`needs-input`",
  starts: "it shows no dialog and starts",
} as const;

/** Starts a member that lacks something, and checks what teams shows. */
async function startWithout(crew: Crew, cli: string, lack: Lack, env: Variables): Promise<void> {
  const word = crew.word("begun");
  const words = ["--cli", cli, "--prompt", `do-say: ${word}`, "--teammate-mode", "tmux"];
  const { code, err } = await crew.teamsIn(env, "spawn", "bob", ...words);
  if (lack.shows === "starts") {
    check(code === 0, `it does not start without ${lack.of}`, err);
    await crew.turnEnded(word);
    return;
  }
  check(code === 0, `it was refused without ${lack.of}`, err);
  const bob = await crew.state("bob", [...ENDED, "needs-input"]);
  check(bob.state === "needs-input", `without ${lack.of} it is ${bob.state}`, bob.activity);
  await checkNoKey(crew);
  check(lack.named?.test(bob.activity ?? "") === true, "the reason is not named", bob.activity);
}

/** Checks that no command presses a key into a startup dialog. */
async function checkNoKey(crew: Crew): Promise<void> {
  for (const words of [
    ["type", "bob", "yes"],
    ["keys", "bob", "Enter"],
  ]) {
    const { code, err } = await crew.teams(...words);
    check(code !== 0 && /a startup dialog/.test(err), `teams ${words[0]} was not refused`, {
      code,
      err,
    });
  }
}

/** Starts: readiness, options, dialogs. */
export const STARTS: readonly Row[] = [
  {
    id: "first",
    text: "takes its first message when it is ready",
    async run({ crew, spawn }) {
      const word = crew.word("first");
      await spawn("ada", `do-say: ${word} is heard`);
      let early: string | undefined;
      await until("the end of its first turn", async () => {
        const hasSaid = crew.model.requests.some(
          ({ reply }) => reply.kind === "say" && reply.text.includes(word),
        );
        const member = hasSaid ? undefined : await crew.member("ada");
        // For `teams wait`, a member with an unread message is not idle.
        if (member?.state === "idle" && member.unread === 0 && !crew.model.got(word))
          early = `${member.stateFrom ?? "its record"}`;
        return hasSaid;
      });
      check(early === undefined, `it is idle before its first turn (from ${early})`);
      await crew.turnEnded(`${word} is heard`);
      await crew.state("ada", "idle");
    },
  },
  {
    id: "listed",
    text: "`teams cli ls` names its version and its login",
    async run({ crew, program }) {
      const own = await listedCli(crew, program.cli);
      check(/^\d/.test(own.version ?? ""), "no version", own);
      check(own.login.state === "found" && own.login.from !== null, "its login is not found", own.login);
      // Without the files of a home, and without its variables.
      const place = crew.emptyHome();
      const bare = await listedCli(crew, program.cli, { HOME: place, ...NO_LOGIN });
      check(bare.login.state === "none", "a login is found in an empty home", bare.login);
      check(Boolean(bare.login.hint), "it does not say how to log in", bare.login);
    },
  },
  {
    id: "model",
    text: "`--model` reaches its server; an invalid option is refused",
    limit: 90_000,
    async run({ crew, program, spawn }) {
      const word = crew.word("model");
      const name =
        { opencode: "fake/big" }[program.id] ?? (program.channel === "inbox" ? "opus" : "big-model");
      await spawn("bob", `do-say: ${word}`, "--model", name);
      await crew.modelGot(word);
      const seen = crew.model.requests.find(({ ask, text }) => ask.tools.length > 0 && text.includes(word));
      const model = seen?.ask.model;
      check(model?.includes(name.replace("fake/", "")) === true, "its server got another model", model);
      const refused = await crew.teams("spawn", "eve", "--cli", program.cli, "--tools", "Read");
      check(refused.code === 2, "--tools was not refused", refused.err);
      await crew.ok("kill", "bob", "--force");
    },
  },
  {
    id: "worktree",
    text: "`--worktree`: works in its own worktree",
    limit: 90_000,
    async run({ crew, spawn }) {
      const word = crew.word("ruled");
      await spawn("bob", `do-run: install -d ${word}\ndo-say: ${word} made`, "--worktree");
      await crew.turnEnded(`${word} made`);
      const bob = await crew.state("bob", "idle");
      check(bob.cwd !== crew.repo && existsSync(join(bob.cwd, word)), "its work is elsewhere", bob.cwd);
      await crew.ok("kill", "bob", "--force");
    },
  },
  {
    id: "sandbox",
    text: "`--sandbox required`: it can write in its directory only, or is refused with the reason",
    limit: 120_000,
    async run({ crew, program, ada, spawn }) {
      const word = crew.word("boxed");
      const outside = join(crew.home, word);
      const required = ["--sandbox", "required"];
      if (!IN_SANDBOX.has(program.channel)) {
        const { code, err } = await crew.teams("spawn", "bob", "--cli", program.cli, ...required);
        check(code !== 0 && /does not run in a sandbox/.test(err), "it was not refused", { code, err });
        return "refused with the reason";
      }
      // Some CLIs must have started outside the sandbox once.
      await ada();
      await spawn("bob", `do-run: mkdir ${word} ${outside}\ndo-say: ${word} said`, ...required);
      await crew.ok("approve", (await crew.approval(word)).id);
      await crew.turnEnded(`${word} said`);
      check(crew.made(word), "it cannot write in its directory");
      check(!existsSync(outside), "it has written outside");
      await crew.ok("kill", "bob", "--force");
      return undefined;
    },
  },
  {
    id: "dialog",
    text: "a start without trust or login: `needs-input`, with what to do; no command presses a key there",
    limit: 240_000,
    async run({ crew, program }) {
      const { home, repo, model } = crew;
      const place = { home, repo, modelUrl: model.url };
      for (const lack of program.lacks) {
        lack.remove(place);
        const without = Object.fromEntries((lack.variables ?? []).map((name) => [name, undefined]));
        try {
          await startWithout(crew, program.cli, lack, without);
        } catch (error) {
          const screen = crew.screen((await crew.member("bob")) ?? { paneId: null });
          throw new Error(`${error instanceof Error ? error.message : error}; its screen: ${screen.trim()}`);
        } finally {
          await crew.teams("kill", "bob", "--force");
          program.prepare(place);
        }
      }
      return program.lacks.map(({ of, shows }) => `without ${of}: ${SHOWN[shows]}`).join("; ");
    },
  },
  {
    id: "plan",
    text: "`--plan`: it submits its plan, and acts only after the approval",
    limit: 150_000,
    async run({ crew, spawn }) {
      const word = crew.word("plan");
      await spawn("bob", `do-plan: ${word} has one step`, "--plan");
      const request = await until(
        `a plan with ${word}`,
        async () => (await crew.approvals()).find(({ from, kind }) => from === "bob" && /plan/.test(kind)),
        90_000,
      );
      const shown = await crew.ok("approvals", request.id);
      check(shown.includes(word), "the request does not show the plan", shown.slice(0, 160));
      await crew.ok("approve", request.id);
      const file = `${word}.txt`;
      const steps = [`do-run: install -d ruled-${word}`, `do-write: ${join(crew.repo, file)}`];
      await crew.ok("send", "bob", [...steps, `do-say: ${word} carried out`].join("\n"));
      // Its own plan mode would refuse the change of a file.
      const isAsked = ({ id, from }: Approval): boolean => from === "bob" && id !== request.id;
      const asked = await until(
        "the file, or a request for it",
        async () => crew.made(file) || (await crew.approvals()).find(isAsked),
      );
      if (asked !== true) await crew.ok("approve", asked.id);
      await crew.turnEnded(`${word} carried out`);
      check(crew.made(`ruled-${word}`) && crew.made(file), "it cannot act after the approval");
      await crew.ok("kill", "bob", "--force");
    },
  },
];
