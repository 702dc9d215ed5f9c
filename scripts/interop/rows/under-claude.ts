import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Crew } from "../team/crew.ts";
import { until } from "../team/wait.ts";
import type { Row } from "./row.ts";

const LEAD = "claude-lead";
/** Milliseconds after which a dialog that is still open gets its key again. */
const KEY_PAUSE = 2_000;

interface Lead {
  readonly paneId: string;
  type(text: string): Promise<void>;
}

/** Starts a claude that leads and uses our agent for its teammates; ends it after the work. */
async function underClaude(crew: Crew, work: (lead: Lead) => Promise<unknown>): Promise<unknown> {
  const wrapper = join(crew.home, "bin/teammate");
  // claude does not pass its key on to teammates.
  const key = `export ANTHROPIC_API_KEY=${crew.env.ANTHROPIC_API_KEY}`;
  const agent = `exec ${process.execPath} ${join(dirname(crew.teamsProgram), "teams-agent.cjs")} "$@"`;
  writeFileSync(wrapper, `#!/bin/sh\n${key}\n${agent}\n`);
  chmodSync(wrapper, 0o755);
  const variables = { CLAUDE_CODE_TEAMMATE_COMMAND: wrapper, CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1" };
  const env = Object.entries(variables).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const words = ["claude", "--teammate-mode", "tmux", "--permission-mode", "default"];
  const place = ["-d", "-n", LEAD, "-c", crew.repo, "-P", "-F", "#{pane_id}"];
  const paneId = crew.tmux("new-window", ...place, ...env, "--", "env", "-u", "TEAMS_TEAM", ...words);
  try {
    await until("the prompt of the lead", () => /❯|>/.test(crew.screen({ paneId })));
    return await work({
      paneId,
      async type(text) {
        crew.tmux("send-keys", "-t", paneId, "-l", "--", text);
        const isShown = (): boolean => crew.screen({ paneId }).includes(text.slice(0, 30));
        await until("the text on the screen of the lead", isShown);
        crew.tmux("send-keys", "-t", paneId, "Enter");
      },
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    const replies = crew.model.requests.slice(-6).map(({ reply }) => JSON.stringify(reply).slice(0, 200));
    throw new Error(`${why}; replies: ${replies.join(" ")}; its screen: ${crew.screen({ paneId }).trim()}`);
  } finally {
    crew.tmux("kill-pane", "-t", paneId);
  }
}

/** Waits until a message of eve has reached the model of the lead. */
function leadModelGot(crew: Crew, text: string): Promise<unknown> {
  const isIn = (request: string): boolean => request.includes(text) && /teammate_id=\\?"eve/.test(request);
  return until(
    `a message of eve with ${text} at the model of the lead`,
    () => crew.model.requests.some((request) => isIn(request.text)),
    90_000,
  );
}

async function dismiss(crew: Crew, lead: Lead): Promise<void> {
  await lead.type("do-shutdown: eve");
  await until("the end of our agent", () => crew.processes("--agent-name eve").length === 0, 60_000);
}

/** Our agent as the teammate of a real claude that leads. */
export const UNDER_CLAUDE: readonly Row[] = [
  {
    id: "under",
    text: "our agent as its teammate: first message, answer, permission, shutdown",
    limit: 240_000,
    run: ({ crew }) =>
      underClaude(crew, async (lead) => {
        const [word, file] = [crew.word("under"), crew.word("dialog")];
        await lead.type(`do-member: eve do-send: team-lead ${word} reported`);
        await leadModelGot(crew, `${word} reported`);
        await lead.type(`do-send: eve do-run: mkdir ${file}`);
        const isAsking = (): boolean => {
          const screen = crew.screen(lead);
          return screen.includes(file) && /Yes|Do you want/.test(screen);
        };
        await until("the dialog of the lead", isAsking);
        // A new dialog ignores keys for a moment.
        await until("the allowed command", async () => {
          if (isAsking()) crew.tmux("send-keys", "-t", lead.paneId, "Enter");
          await delay(KEY_PAUSE);
          return crew.made(file);
        });
        await dismiss(crew, lead);
      }),
  },
  {
    id: "under-plan",
    text: "our agent as its teammate in plan mode: its plan is approved before it acts",
    limit: 240_000,
    run({ crew }) {
      // 2.1.332 takes the mode from the type, older versions from the call.
      const head = "name: planner\ndescription: plans first\npermissionMode: plan";
      mkdirSync(join(crew.home, ".claude/agents"), { recursive: true });
      writeFileSync(join(crew.home, ".claude/agents/planner.md"), `---\n${head}\n---\nPlan first.\n`);
      return underClaude(crew, async (lead) => {
        const word = crew.word("plan");
        await lead.type(`do-planner: eve do-plan: ${word} has one step`);
        await crew.turnEnded("the plan is presented", 90_000);
        await until("the answer to the plan at the model of eve", () =>
          crew.model.requests.some(
            ({ text }) => text.includes(word) && text.includes("You are out of plan mode"),
          ),
        );
        await lead.type(`do-send: eve do-run: install -d ruled-${word}`);
        await until("the work after the plan", () => crew.made(`ruled-${word}`));
        await dismiss(crew, lead);
      });
    },
  },
];
