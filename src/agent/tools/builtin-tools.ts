import type { AnyTool } from "../tool.ts";
import { taskOutputTool, taskStopTool } from "./background-tasks.ts";
import { bashTool } from "./bash.ts";
import { editTool } from "./edit.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { readTool } from "./read.ts";
import { webFetchTool } from "./web-fetch.ts";
import { writeTool } from "./write.ts";

/** The tools that any agent can have: for files, commands and the web, without knowledge of teams. */
export function builtinTools(): AnyTool[] {
  return [
    readTool,
    writeTool,
    editTool,
    globTool,
    grepTool,
    bashTool,
    webFetchTool,
    taskOutputTool,
    taskStopTool,
  ];
}
