import { kill } from "node:process";
import { programOf } from "../team/processes.ts";
import { until } from "../team/wait.ts";
import { check, type Row } from "./row.ts";

/** Gemini 0.61.0 names the file of a conversation after the minute, and overwrites it when it resumes in that minute. */
async function untilNextMinute(): Promise<void> {
  const minute = Math.floor(Date.now() / 60_000);
  await until("the next minute", () => Math.floor(Date.now() / 60_000) > minute, 62_000);
}

/** Ends: crash, resume, shutdown, kill, delete; and states that must never occur. */
export const ENDS: readonly Row[] = [
  {
    id: "crash",
    text: "a SIGKILL is noticed, and its tasks are unassigned",
    limit: 90_000,
    async run({ crew, program, ada }) {
      const { pid } = await ada();
      const { task } = await crew.json<{ task: { id: string } }>("task", "add", crew.word("left"));
      await crew.ok("task", "update", task.id, "--owner", "ada", "--status", "in_progress");
      // Only the program is killed: the processes of teams must notice it.
      const own = programOf(program, pid ?? 0);
      kill(own, "SIGKILL");
      await crew.state("ada", "crashed");
      await until("the task to be unassigned", async () => {
        // The first status may come before the record of its exit, and no lead reconciles this team.
        await crew.member("ada");
        const shown = await crew.json<{ task: { owner?: string } }>("task", "show", task.id);
        return shown.task.owner === undefined;
      });
    },
  },
  {
    id: "resume",
    text: "`teams resume` continues its conversation",
    limit: 180_000,
    async run({ crew, program, ada, tell }) {
      const { pid } = await ada();
      const word = crew.word("remember");
      await tell(`do-say: ${word} said`);
      await crew.turnEnded(`${word} said`);
      await crew.state("ada", "idle");
      if (program.cli === "gemini") await untilNextMinute();
      kill(programOf(program, pid ?? 0), "SIGKILL");
      await crew.state("ada", "crashed");
      await crew.ok("resume");
      await crew.state("ada", "idle");
      const next = crew.word("resumed");
      await tell(`do-say: ${next} said`);
      await crew.turnEnded(`${next} said`);
      const request = crew.model.requests.find(
        ({ ask, text }) => ask.tools.length > 0 && text.includes(next),
      );
      check(request?.text.includes(word) === true, "its model has forgotten the earlier turn");
      return program.cli === "gemini" ? "a conversation that began in the same minute is lost" : undefined;
    },
  },
  {
    id: "shutdown",
    text: "`teams shutdown`: it agrees and leaves",
    limit: 90_000,
    async run({ crew, ada }) {
      await ada();
      await crew.ok("shutdown", "ada");
      check(!crew.config().members.some(({ name }) => name === "ada"), "it is still a member");
      await until("the end of its processes", () => crew.processes("--agent-name ada").length === 0);
    },
  },
  {
    id: "kill",
    text: "`teams kill` ends every process that it started",
    limit: 90_000,
    async run({ crew, ada, tell }) {
      await ada();
      await tell(crew.linger(700), "do-say: it slept");
      await until("the start of its command", () => crew.processes("linger 700").length > 0);
      await crew.ok("kill", "ada", "--force");
      await until("the end of its command", () => crew.processes("linger 700").length === 0, 5_000);
      check(!crew.config().members.some(({ name }) => name === "ada"), "it is still a member");
    },
  },
  {
    id: "quit",
    text: "a person quits it: `exited`",
    async run({ crew, ada }) {
      await ada();
      await crew.ok("type", "ada", "/exit");
      const { state, activity } = await crew.state("ada", ["exited", "crashed"], 20_000);
      check(state === "exited", `it is ${state}`, activity);
      await crew.teams("kill", "ada", "--force");
    },
  },
  {
    id: "delete",
    text: "`teams delete` refuses while its process is alive",
    async run({ crew, ada }) {
      await ada();
      const { code, err } = await crew.teams("delete", "crew");
      const isRefused = code !== 0 && /ACTIVE_MEMBERS|still|running|alive/i.test(err);
      check(isRefused, "it was deleted, or the refusal has no reason", { code, err });
    },
  },
  {
    id: "whole",
    text: "no file was unreadable, and no member was lost",
    async run({ crew, ada }) {
      await ada();
      check(crew.damage.length === 0, "a file was unreadable", crew.damage[0]);
      const { members } = await crew.json<{ members: { name: string }[] }>("status");
      const names = crew.config().members.map(({ name }) => name);
      check(names.includes("team-lead") && names.includes("ada"), "a member is missing", names);
      check(
        members.length === names.length,
        "status shows other members",
        members.map(({ name }) => name),
      );
      const doctor = await crew.teams("doctor", "crew", "--json");
      check(!/CORRUPT|corrupt|unreadable/.test(doctor.out), "doctor finds damage", doctor.out.slice(0, 200));
    },
  },
];
