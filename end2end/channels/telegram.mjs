// Starts a stand-in for Telegram, the package `telegram-test-api`, on a free port of this machine, and prints its address.
// Its paths without a token are for the user: `/sendMessage`, `/sendCallback` and `/getUpdatesHistory`.
import TelegramServer from "telegram-test-api";

// The `start` of the package cannot choose a free port, and deletes messages after a minute.
const { webServer } = new TelegramServer();
const server = webServer.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
