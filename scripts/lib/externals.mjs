/**
 * Packages that are not bundled: blessed reads files in its package directory, and the MCP client would pull parts of zod into
 * every command.
 */
export const EXTERNAL = /^(blessed|@modelcontextprotocol\/client)($|\/)/;
