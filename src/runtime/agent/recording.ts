import { basename, dirname, extname, join, resolve } from "node:path";
import * as z from "zod/mini";
import type { Model } from "../../agent/model/model.ts";
import type { RecordingContext } from "../../agent/playbook/record-turn.ts";
import { TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { createWhole } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, isDirectory, listDir, removeTree } from "../../os/files/fs.ts";
import { redactValue, secretsOf } from "../../os/redact.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { type Playbook, type PlaybookTurn, playbook, turn } from "../../schema/playbook.ts";
import { formatJson } from "../../store/format-json.ts";
import { appendJsonLines, readJsonLines } from "../../store/jsonl.ts";
/** Names the directory into which each agent of a recorded run writes its turns. */
export const RECORDING = "TEAMS_RECORDING";

const recordedTurn = z.object({ agent: z.string(), turn });

/**
 * Checks before anything is made that a recording can be written.
 * @param file `--record`; a path from `cwd`
 * @returns its absolute path
 * @throws TeamError INVALID_INPUT: there is no such directory, or something is there already
 */
export function checkRecording(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  if (!isDirectory(dirname(path))) {
    throw new TeamError("INVALID_INPUT", `There is no directory ${dirname(path)} for the recording.`, {
      hint: "Make it first, or name another file with --record.",
    });
  }
  if (entryOf(path) === undefined) return path;
  throw new TeamError("INVALID_INPUT", `${path} is there already; it was left as it is.`, {
    hint: `Name another file: --record ${basename(path, extname(path))}-2.json`,
  });
}

/** The model, recorded where this run is: what it says is written down as it is said, with no secret in it. */
export async function recorded(
  model: Model,
  agent: string,
  { env, cwd, team }: Pick<RecordingContext, "cwd" | "team"> & { readonly env: Env },
): Promise<Model> {
  const directory = env[RECORDING];
  if (!directory) return model;
  const { recordingModel } = await import("../../agent/playbook/recorder.ts");
  const secrets = secretsOf(env);
  const file = join(directory, `${agentFileName(agent)}.jsonl`);
  return recordingModel(model, {
    run: { cwd, team, secrets },
    record: (said: PlaybookTurn) => {
      ensureDir(directory);
      appendJsonLines(file, [redactValue({ agent, turn: said }, secrets)]);
    },
  });
}

/**
 * Puts what the agents of a run wrote together as one playbook, and removes their parts.
 * @param directory the value of {@link RECORDING} in that run
 * @throws TeamError INVALID_INPUT when something has come to stand at the path; the parts stay then
 */
export function writeRecording(directory: string, path: string): Playbook {
  const agents: Record<string, PlaybookTurn[]> = {};
  for (const name of listDir(directory).sort()) {
    for (const line of readJsonLines(join(directory, name), recordedTurn).lines) {
      const turns = Object.hasOwn(agents, line.agent) ? agents[line.agent] : undefined;
      if (turns === undefined) agents[line.agent] = [line.turn];
      else turns.push(line.turn);
    }
  }
  const whole = z.parse(playbook, { version: 1, agents });
  if (!createWhole(path, formatJson(whole))) {
    throw new TeamError(
      "INVALID_INPUT",
      `${path} has been made meanwhile, by somebody else; it was left as it is.`,
      {
        hint: `The parts of the recording, a file for each agent: ${directory}`,
      },
    );
  }
  removeTree(directory);
  return whole;
}
