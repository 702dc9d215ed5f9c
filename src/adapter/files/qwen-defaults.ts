import { dirname, join } from "node:path";
import { type ParseError, parse } from "jsonc-parser";
import type { Env } from "../../os/env.ts";
import { readText } from "../../os/files/fs.ts";
import { fieldsOf } from "../reported-values.ts";

/** Variable with the path of the machine's default settings, which a person's settings override. */
export const DEFAULTS_PATH = "QWEN_CODE_SYSTEM_DEFAULTS_PATH";
const SETTINGS_PATH = "QWEN_CODE_SYSTEM_SETTINGS_PATH";

/**
 * Returns the machine's default settings with automatic updates off: Qwen would replace the installed program when it starts.
 * @param env determines where Qwen looks for them
 * @returns JSON text; undefined if the machine's file cannot be parsed and must stay as it is
 */
export function defaultsWithoutUpdate(
  env: Env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const errors: ParseError[] = [];
  const machine = fieldsOf(parse(readText(defaultsPath(env, platform)) ?? "{}", errors));
  if (errors.length > 0) return undefined;
  const general = { ...fieldsOf(machine.general), enableAutoUpdate: false };
  return JSON.stringify({ ...machine, general });
}

function defaultsPath(env: Env, platform: NodeJS.Platform): string {
  const settings = platform === "darwin" ? "/Library/Application Support/QwenCode" : "/etc/qwen-code";
  const directory = env[SETTINGS_PATH] ? dirname(env[SETTINGS_PATH]) : settings;
  return env[DEFAULTS_PATH] || join(directory, "system-defaults.json");
}
