import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Crew } from "../team/crew.ts";
import { writeDiagnosis } from "../team/diagnosis.ts";
import { until } from "../team/wait.ts";
import { check, type Row } from "./row.ts";

const tool = (name: string, input: object): string => `do-tool: ${name} ${JSON.stringify(input)}`;

/** Runs a third-party lead to its end. @param word the last words of its last turn */
async function lead(crew: Crew, cli: string, steps: readonly string[], word: string): Promise<void> {
  // A program with its own screen needs a terminal.
  const line = `teams run --once --team boat --cli ${cli} '${steps.join("\n")}'; echo "ended with $?"; cat`;
  const place = ["-c", crew.repo, "-P", "-F", "#{pane_id}"];
  const paneId = crew.tmux("new-window", "-d", ...place, "--", "sh", "-c", line);
  const ending = (): string | undefined => /ended with \d+/.exec(crew.screen({ paneId }))?.[0];
  try {
    await until(
      "the last words of the lead",
      () => {
        if (ending() !== undefined && !crew.model.said(word))
          throw new Error(`early end: ${crew.screen({ paneId }).trim()}`);
        return crew.model.said(word);
      },
      120_000,
    );
    check(
      (await until("the end of the run", ending, 60_000)) === "ended with 0",
      "the run failed",
      crew.screen({ paneId }).trim(),
    );
  } finally {
    crew.tmux("kill-pane", "-t", paneId);
  }
}

/** The program as the lead. */
export const LEAD: readonly Row[] = [
  {
    id: "run",
    text: "leads: `teams run --cli`, with the lead's tools",
    limit: 200_000,
    async run({ crew, program }) {
      const word = crew.word("result");
      const steps = [
        tool("TaskCreate", { subject: "of the boat", description: "d" }),
        tool("TaskUpdate", { taskId: "1", status: "completed" }),
        `do-say: ${word}`,
      ];
      await lead(crew, program.cli, steps, word);
      check(/completed/.test(crew.lastResult()), "the task is not completed", crew.lastResult());
    },
  },
  {
    id: "run-member",
    text: "leads: it starts our agent and another instance of itself, which complete its tasks and report to it",
    limit: 300_000,
    async run({ program, another }) {
      const crew = await another("lead");
      try {
        allowClis(crew);
        const words = { eve: crew.word("eve"), cal: crew.word("cal") };
        const work = (taskId: string, word: string): string =>
          [
            tool("TaskUpdate", { taskId, status: "completed" }),
            `do-send: team-lead do-say: ${word} is heard`,
            "do-say: it is done",
          ].join("\n");
        const agent = (more: object): string => tool("mcp:Agent", { description: "a member", ...more });
        const steps = [
          tool("TaskCreate", { subject: "of eve", description: "d" }),
          tool("TaskCreate", { subject: "of cal", description: "d" }),
          agent({ name: "eve", prompt: work("1", words.eve), model: "opus" }),
          agent({ name: "cal", prompt: work("2", words.cal), cli: program.cli }),
          "do-say: both are started",
        ];
        await lead(crew, program.cli, steps, "is heard");
        const seen = crew.model.requests.filter(({ ask }) =>
          ask.pieces.some(({ kind }) => kind === "result"),
        );
        for (const word of Object.values(words))
          check(
            seen.some(({ text }) => text.includes(`${word} is heard`)) && crew.model.said(`${word} is heard`),
            `no report of ${word}`,
            crew.lastResult(),
          );
      } catch (error) {
        await writeDiagnosis(crew, "run-member", error instanceof Error ? error.message : String(error));
        throw error;
      } finally {
        await crew.teams("kill", "--team", "boat", "--force").catch(() => undefined);
        crew.end();
      }
    },
  },
];

/** Lets models start CLIs as teammates. */
function allowClis({ home }: Crew): void {
  const file = join(home, ".claude/settings.json");
  const settings = JSON.parse(readFileSync(file, "utf8"));
  settings.permissions.allow.push("Agent(cli:*)");
  writeFileSync(file, JSON.stringify(settings));
}
