from regraft.cli.main import main

raise SystemExit(main())
