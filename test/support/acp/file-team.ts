import { join } from "node:path";
import { type PlayedTurn, uses } from "./played-session.ts";

/** The cast of the recorded transcripts: a lead whose teammate `ada` creates a file. */
export function fileTeam(home: string): Readonly<Record<string, readonly PlayedTurn[]>> {
  return {
    "team-lead": [
      {
        on: { contains: "Make the file" },
        say: "One teammate is enough.",
        tools: [
          uses("TaskCreate", { subject: "make the file", description: "d" }),
          uses("Agent", { name: "ada", prompt: "Begin with task 1.", description: "makes" }),
        ],
      },
      { on: { contains: "It is made" }, say: "The file is made.", usage: { input: 1000, output: 20 } },
    ],
    ada: [
      {
        on: { contains: "Begin with" },
        tools: [
          uses("TaskUpdate", { taskId: "1", owner: "ada", status: "in_progress" }),
          uses("Write", { file_path: join(home, "made.txt"), content: "made\n" }),
        ],
      },
      { tools: [uses("TaskUpdate", { taskId: "1", status: "completed" })] },
      { tools: [uses("SendMessage", { recipient: "team-lead", content: "It is made.", summary: "done" })] },
    ],
  };
}
