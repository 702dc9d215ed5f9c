import type { ChannelKind } from "./adapter-schema.ts";
import type { OpenChannel } from "./channel.ts";

/** Loads the module of a channel: each has its own packages. A CLI with its own inbox needs no channel. */
export async function channelOf(kind: ChannelKind): Promise<OpenChannel> {
  switch (kind) {
    case "acp":
      return (await import("./acp/acp-channel.ts")).openAcpChannel;
    case "app-server":
      return (await import("./app-server/app-server-channel.ts")).openAppServerChannel;
    case "files":
      return (await import("./files/files-channel.ts")).openFilesChannel;
    case "hooks":
      return (await import("./hooks/hooks-channel.ts")).openGeminiHooksChannel;
    case "http":
      return (await import("./http/http-channel.ts")).openHttpChannel;
    case "keys":
      return (await import("./keys/keys-channel.ts")).openKeysChannel;
    case "inbox":
      throw new Error("A CLI that reads its inbox itself runs without our worker.");
  }
}
