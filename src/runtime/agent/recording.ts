import { basename, dirname, extname, join, resolve } from "node:path";
import * as z from "zod/mini";
import type { Model } from "../../agent/model/model.ts";
import type { RecordingContext } from "../../agent/playbook/record-turn.ts";
import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { createWhole, formatJson } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, isDirectory, listDir, removeTree } from "../../os/files/fs.ts";
import { redactValue, secretsOf } from "../../os/redact.ts";
import { agentFileName } from "../../protocol/paths.ts";
import { type Playbook, type PlaybookTurn, playbook, turn } from "../../schema/playbook.ts";
import { appendJsonLines, readJsonLines } from "../../store/jsonl.ts";
import type { TeamRef } from "../../team/ref.ts";
/** Names the directory into which each agent of a recorded run writes its turns. */
export const RECORDING_VARIABLE = "TEAMS_RECORDING";

const recordedTurn = z.object({ agent: z.string(), turn });

/**
 * Checks that a recording can be written, before the run changes anything.
 * @param file `--record`; a path from `cwd`
 * @returns its absolute path
 * @throws TeamError INVALID_INPUT if the directory does not exist, or the path does
 */
export function checkRecording(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  if (!isDirectory(dirname(path))) {
    throw new TeamError("INVALID_INPUT", `The directory ${dirname(path)} for the recording does not exist.`, {
      hint: "Create it first, or name another file with --record.",
    });
  }
  if (entryOf(path) === undefined) return path;
  throw new TeamError("INVALID_INPUT", `${path} already exists; it was not changed.`, {
    hint: `Name another file: --record ${basename(path, extname(path))}-2.json`,
  });
}

/**
 * Returns the model; in a recorded run, wraps it to append each turn to a file, with secrets redacted. A turn that cannot be
 * written does not fail: it is appended with the agent's next turn, and is missing if none follows.
 * @param note tells the user that a turn is not recorded yet
 */
export async function withRecording(
  model: Model,
  agent: string,
  context: Pick<RecordingContext, "cwd"> & { readonly env: Env; readonly ref: TeamRef },
  note: (text: string) => void,
): Promise<Model> {
  const { env, cwd, ref } = context;
  const directory = env[RECORDING_VARIABLE];
  if (!directory) return model;
  const { recordingModel } = await import("../../agent/playbook/recorder.ts");
  const secrets = secretsOf(env);
  const file = join(directory, `${agentFileName(agent)}.jsonl`);
  const unrecorded: unknown[] = [];
  const append = (): void => {
    ensureDir(directory);
    for (; unrecorded.length > 0; unrecorded.shift()) appendJsonLines(file, unrecorded.slice(0, 1));
  };
  return recordingModel(model, {
    run: {
      cwd,
      // A getter: a lead's team may be renamed.
      get team() {
        return ref.team;
      },
      secrets,
    },
    record: (newTurn: PlaybookTurn) => {
      unrecorded.push(redactValue({ agent, turn: newTurn }, secrets));
      try {
        append();
      } catch (error) {
        if (!isSystemError(error)) throw error;
        note(`the newest turn is not recorded yet; the next turn retries: ${messageOf(error)}`);
      }
    },
  });
}

/**
 * Merges the turns of a run's agents into one playbook, and removes the parts.
 * @param directory the value of {@link RECORDING_VARIABLE} in that run
 * @throws TeamError INVALID_INPUT if the path was created meanwhile; the parts are kept
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
      `${path} was created by another process during the run; it was not changed.`,
      {
        hint: `The recording is kept in parts, one file per agent: ${directory}`,
      },
    );
  }
  removeTree(directory);
  return whole;
}
